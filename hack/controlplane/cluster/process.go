package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// grace is how long a process may take to end after it was asked to.
const grace = 10 * time.Second

// process is one running component.
type process struct {
	Name string `json:"name"`
	PID  int    `json:"pid"`
	// ended is closed when a process that this one spawned was reaped; nil for
	// a process that is known from the state file only.
	ended <-chan struct{}
}

// spawn starts a binary that outlives this process; what it says goes to
// <name>.log in dir. Every component gets at least one flag that names dir,
// which is how [process.alive] knows it again.
func spawn(dir, binary, name string, args []string) (process, error) {
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		return process{}, fmt.Errorf("create the log of %s: %w", name, err)
	}
	defer log.Close()

	command := exec.Command(binary, args...) //nolint:noctx // it outlives every context of this process
	command.Dir = dir
	command.Stdout, command.Stderr = log, log
	// A session of its own: the terminal's ctrl-C is not meant for it.
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}

	if err := command.Start(); err != nil {
		return process{}, fmt.Errorf("start %s: %w", name, err)
	}

	// Reap it if it ends while this process is still here.
	ended := make(chan struct{})

	go func() {
		defer close(ended)

		_ = command.Wait()
	}()

	return process{Name: name, PID: command.Process.Pid, ended: ended}, nil
}

// alive reports whether the process runs and is still ours. Of our own child
// Wait knows: its command line is empty for as long as the kernel still loads
// the binary, which takes a while when that is not in memory yet. A process of
// the state file must name dir in its command line, as process ids are reused.
func (p process) alive(ctx context.Context, dir string) bool {
	if p.ended == nil {
		return strings.Contains(commandLine(ctx, p.PID), dir)
	}

	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// commandLine returns the command line of a process, or nothing when it is
// gone. A zombie has none.
func commandLine(ctx context.Context, pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err == nil {
		return string(data)
	}

	if _, err := os.Stat("/proc/self/cmdline"); err == nil {
		return ""
	}

	out, err := exec.CommandContext(ctx, "ps", "-ww", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}

	return string(out)
}

// stop asks the process to end, waits, and kills it when it does not.
func (p process) stop(ctx context.Context, dir string) error {
	if !p.alive(ctx, dir) {
		return nil
	}

	if err := syscall.Kill(p.PID, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop %s (process %d): %w", p.Name, p.PID, err)
	}

	deadline := time.Now().Add(grace)
	for p.alive(ctx, dir) {
		if time.Now().After(deadline) {
			if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("kill %s (process %d): %w", p.Name, p.PID, err)
			}

			return nil
		}

		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}

	return nil
}

// logTail returns the last lines a component logged, for an error message.
func logTail(dir, name string) string {
	data, err := os.ReadFile(filepath.Join(dir, name+".log"))
	if err != nil {
		return err.Error()
	}

	lines := strings.Split(strings.TrimSpace(string(data)), "\n")

	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}
