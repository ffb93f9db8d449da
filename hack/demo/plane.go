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

// plane is the control plane that the demo runs on.
type plane struct {
	kubeconfig string
	given      bool
	root, name string
	logs       string // a folder for what runs on it
}

// startPlane starts a control plane, or uses the given one. With serverOnly it
// is etcd and kube-apiserver alone, and no other component is built.
func startPlane(ctx context.Context, root, kubeconfig string, serverOnly bool) (*plane, error) {
	if kubeconfig != "" {
		if _, err := os.Stat(kubeconfig); err != nil {
			return nil, fmt.Errorf("read the given kubeconfig: %w", err)
		}

		return &plane{kubeconfig: kubeconfig, given: true}, nil
	}

	p := &plane{root: root, name: "demo-" + strconv.Itoa(os.Getpid())}

	// The owner's id lets the next start remove this cluster if the demo is
	// killed and cannot.
	args := []string{"start", "-name", p.name, "-owner-pid", strconv.Itoa(os.Getpid())}
	if serverOnly {
		args = append(args, "-server-only")
	}

	out, err := controlplane(ctx, root, args...)
	if err != nil {
		// It may have been interrupted half way.
		return nil, errors.Join(fmt.Errorf("start the control plane: %w", err), p.stop(context.WithoutCancel(ctx)))
	}

	p.kubeconfig = lastLine(out)

	return p, nil
}

// stop stops what startPlane started; a given cluster stays.
func (p *plane) stop(ctx context.Context) error {
	if p.given {
		return nil
	}

	if _, err := controlplane(ctx, p.root, "stop", "-name", p.name); err != nil {
		return fmt.Errorf("stop the control plane: %w", err)
	}

	return nil
}

// controlplane runs hack/controlplane; what it says about its progress is
// shown as it comes.
func controlplane(ctx context.Context, root string, args ...string) (string, error) {
	command := goCommand(ctx, filepath.Join(root, "hack", "controlplane"), append([]string{"run", "."}, args...)...)
	command.Stderr = os.Stderr

	out, err := command.Output()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}

	return string(out), err
}

// goCommand prepares the go command in a module, out of reach of the
// terminal's ctrl-C and of a workspace.
func goCommand(ctx context.Context, module string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = module
	command.Env = append(os.Environ(), "PWD="+module, "GOWORK=off")
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// The group, because `go run` does not pass signals on.
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGINT) }
	command.WaitDelay = 30 * time.Second

	return command
}

// moduleFolder returns where the go command keeps a module that another one
// requires.
func moduleFolder(module, path string) (string, error) {
	command := goCommand(context.Background(), module, "list", "-m", "-f", "{{.Dir}}", path)

	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("find module %s: %w", path, withStderr(err))
	}

	return strings.TrimSpace(string(out)), nil
}

// withStderr adds what a command said to its exit error.
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
