package main

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

// plane is the control plane of the demo.
type plane struct {
	kubeconfig string
	given      bool
	root, name string
	logs       string // a folder for logs
}

// startPlane starts a control plane, or uses the given one. With serverOnly it starts only etcd and kube-apiserver.
func startPlane(ctx context.Context, root, kubeconfig string, serverOnly bool) (*plane, error) {
	if kubeconfig != "" {
		if _, err := os.Stat(kubeconfig); err != nil {
			return nil, fmt.Errorf("read the given kubeconfig: %w", err)
		}

		return &plane{kubeconfig: kubeconfig, given: true}, nil
	}

	p := &plane{root: root, name: "demo-" + strconv.Itoa(os.Getpid())}

	// The owner's PID lets the next start remove this cluster if the demo is killed.
	args := []string{"start", "-name", p.name, "-owner-pid", strconv.Itoa(os.Getpid())}
	if serverOnly {
		args = append(args, "-server-only")
	}

	out, err := controlplane(ctx, root, args...)
	if err != nil {
		// It may have been interrupted.
		return nil, errors.Join(fmt.Errorf("start the control plane: %w", err), p.stop(context.WithoutCancel(ctx)))
	}

	p.kubeconfig = lastLine(out)

	return p, nil
}

// stop stops a control plane of startPlane; an existing cluster is kept.
func (p *plane) stop(ctx context.Context) error {
	if p.given {
		return nil
	}

	if _, err := controlplane(ctx, p.root, "stop", "-name", p.name); err != nil {
		return fmt.Errorf("stop the control plane: %w", err)
	}

	return nil
}

// controlplane runs hack/controlplane and shows its progress.
func controlplane(ctx context.Context, root string, args ...string) (string, error) {
	command := goCommand(ctx, filepath.Join(root, "hack", "controlplane"), append([]string{"run", "."}, args...)...)
	command.Stderr = os.Stderr

	out, err := command.Output()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}

	return string(out), err
}

// goCommand prepares a go command in a module, protected from the terminal's ctrl-C and from a workspace.
func goCommand(ctx context.Context, module string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = module
	command.Env = append(os.Environ(), "PWD="+module, "GOWORK=off")
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// Signal the group, because `go run` does not forward signals.
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGINT) }
	command.WaitDelay = 30 * time.Second

	return command
}

// moduleFolder returns the folder of a required module in the module cache.
func moduleFolder(module, path string) (string, error) {
	command := goCommand(context.Background(), module, "list", "-m", "-f", "{{.Dir}}", path)

	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("find module %s: %w", path, withStderr(err))
	}

	return strings.TrimSpace(string(out)), nil
}

// withStderr adds a command's output to its exit error.
func withStderr(err error) error {
	var failed *exec.ExitError
	if errors.As(err, &failed) && len(failed.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(failed.Stderr)))
	}

	return err
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)

	return text[strings.LastIndexByte(text, '\n')+1:]
}
