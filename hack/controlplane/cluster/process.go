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

// grace is the time for a process to end after a signal.
const grace = 10 * time.Second

// process is one running component.
type process struct {
	Name string `json:"name"`
	PID  int    `json:"pid"`
	// ended is closed when a child of this process was reaped; nil for a process from the state file.
	ended <-chan struct{}
}

// spawn starts a binary that outlives this process; its output goes to <name>.log in dir. Every component gets at least one flag with
// dir, by which [process.alive] identifies it.
func spawn(dir, binary, name string, args []string) (process, error) {
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		return process{}, fmt.Errorf("create the log of %s: %w", name, err)
	}
	defer log.Close()

	command := exec.Command(binary, args...) //nolint:noctx // it outlives every context of this process
	command.Dir = dir
	command.Stdout, command.Stderr = log, log
	// A session of its own protects it from the terminal's ctrl-C.
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}

	if err := command.Start(); err != nil {
		return process{}, fmt.Errorf("start %s: %w", name, err)
	}

	// Reap it if it ends while this process runs.
	ended := make(chan struct{})

	go func() {
		defer close(ended)

		_ = command.Wait()
	}()

	return process{Name: name, PID: command.Process.Pid, ended: ended}, nil
}

// alive reports whether the process runs and is the started one. For a child of this process it uses Wait, because the command line is
// empty while the kernel loads the binary, which can take a while. A process of the state file must have dir in its command line, because
// process IDs are reused.
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

// commandLine returns the command line of a process, or nothing if it does not exist. A zombie has none.
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

// stop sends a signal to the process, waits, and kills it if it does not end.
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

// logTail returns the last log lines of a component, for an error message.
func logTail(dir, name string) string {
	data, err := os.ReadFile(filepath.Join(dir, name+".log"))
	if err != nil {
		return err.Error()
	}

	lines := strings.Split(strings.TrimSpace(string(data)), "\n")

	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}
