package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// program is a process that is restarted when it ends, like a Deployment's, until it is stopped.
type program struct {
	name     string
	binary   string
	args     []string
	log      string
	metrics  string // address of its metrics, may be empty
	probes   string // address of its probes, may be empty
	out      *screen
	restarts int

	mu      sync.Mutex
	process *os.Process
	stopped bool
	ended   chan struct{}
}

// restartPause limits the restarts of a program that ends immediately.
const restartPause = time.Second

// start starts the program. The goroutine keeps its thread, because a child that the kernel ends with its parent depends on the parent's
// thread.
func (p *program) start() error {
	started := make(chan error, 1)
	p.ended = make(chan struct{})

	go func() {
		runtime.LockOSThread()
		defer close(p.ended)

		for first := true; ; first = false {
			command, err := p.spawn()
			if first {
				started <- err
			}

			if err != nil {
				return
			}

			err = command.Wait()

			p.mu.Lock()
			done := p.stopped
			p.mu.Unlock()

			if done {
				return
			}

			p.restarts++
			p.out.say(fmt.Sprintf("%s ended (%v), restarting it", p.name, err))
			time.Sleep(restartPause)
		}
	}()

	return <-started
}

// spawn starts one process; its output is appended to the log.
func (p *program) spawn() (*exec.Cmd, error) {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.stopped {
		return nil, context.Canceled
	}

	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", p.name, err)
	}
	defer log.Close()

	command := exec.Command(p.binary, p.args...) //nolint:noctx // ends by stop, in an order of its own
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = childAttributes()

	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}

	p.process = command.Process

	return command, nil
}

// pid returns the ID of the current or last process.
func (p *program) pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.process.Pid
}

// stop sends a signal to the process, and kills it if it does not end.
func (p *program) stop() {
	p.mu.Lock()
	p.stopped = true

	if p.process != nil {
		_ = p.process.Signal(syscall.SIGTERM)
	}
	p.mu.Unlock()

	select {
	case <-p.ended:
	case <-time.After(10 * time.Second):
		_ = p.process.Kill()
		<-p.ended
	}
}

// programs are the operator, unless it runs in the cluster, and the stand-in, if it exists.
type programs struct {
	operator *program
	standin  *program
	flow     flow
	hooks    *hooks
	rights   []manifest // of the operator, for failures that remove permissions
}

// startPrograms builds and starts the operator, unless it is deployed, and the stand-in, if the product has one and it is requested.
func startPrograms(ctx context.Context, o options, p product, c *cluster, plane *plane, out *screen) (*programs, error) {
	binary, err := buildProgram(ctx, p.root, p.name, "./"+p.name, out)
	if err != nil {
		return nil, err
	}

	page, err := exec.CommandContext(ctx, binary, "--describe").Output()
	if err != nil {
		return nil, fmt.Errorf("%s --describe: %w", p.name, withStderr(err))
	}

	started := &programs{}
	if started.flow, err = parseFlow(string(page)); err != nil {
		return nil, err
	}

	kubeconfig := plane.kubeconfig
	if o.fail == "rights" {
		if started.rights, kubeconfig, err = takeRights(ctx, binary, c, plane); err != nil {
			return nil, err
		}
	}

	if o.deployed {
		out.say("operator " + p.name + " runs in the cluster")
	} else if err := started.startOperator(binary, p, kubeconfig, plane.logs, out); err != nil {
		return nil, err
	}

	if !p.standin {
		return started, nil
	}

	if !o.standin {
		out.say("no stand-in: this cluster has foreign CRDs, so their controllers should run; if not, set STANDIN=yes")

		return started, nil
	}

	if err := started.startStandin(ctx, p, plane, out); err != nil {
		started.stop()

		return nil, err
	}

	return started, nil
}

func (s *programs) startOperator(binary string, p product, kubeconfig, logs string, out *screen) error {
	addresses, err := freeAddresses()
	if err != nil {
		return err
	}

	if s.hooks, err = newHooks(p, logs); err != nil {
		return err
	}

	operator := &program{
		name: "operator", binary: binary, log: filepath.Join(logs, "operator.log"), out: out,
		metrics: addresses[0], probes: addresses[1],
		args: []string{
			"--kubeconfig=" + kubeconfig, "--metrics-bind-address=" + addresses[0],
			"--health-probe-bind-address=" + addresses[1], "--serve-explanations",
		},
	}
	operator.args = append(operator.args, s.hooks.args()...)

	if err := operator.start(); err != nil {
		return err
	}

	s.operator = operator

	out.say(fmt.Sprintf("operator %s is process %d: kill it if you like, it is restarted", p.name, operator.pid()))

	return nil
}

func (s *programs) startStandin(ctx context.Context, p product, plane *plane, out *screen) error {
	binary, err := buildProgram(ctx, p.root, p.name+"-standin", "./"+p.name+"/standin", out)
	if err != nil {
		return err
	}

	standin := &program{
		name: "stand-in", binary: binary, log: filepath.Join(plane.logs, "standin.log"), out: out,
		args: []string{"--kubeconfig=" + plane.kubeconfig},
	}
	if err := standin.start(); err != nil {
		return err
	}

	s.standin = standin

	out.say("a stand-in replaces the controllers that this cluster does not have (examples/" + p.name + "/standin)")

	return nil
}

// stop stops the operator first, because it would report the missing stand-in.
func (s *programs) stop() {
	if s.operator != nil {
		s.operator.stop()
	}

	if s.standin != nil {
		s.standin.stop()
	}
}

// lastWords returns the end of the operator's log as an error.
func (s *programs) lastWords() error {
	if s.operator == nil {
		return errors.New("the operator runs in the cluster: see kubectl logs")
	}

	data, err := os.ReadFile(s.operator.log)
	if err != nil {
		return fmt.Errorf("read the operator's log: %w", err)
	}

	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	lines = lines[max(0, len(lines)-10):]

	for i, line := range lines {
		if runes := []rune(line); len(runes) > 300 {
			lines[i] = string(runes[:300]) + "…"
		}
	}

	return errors.New("last log lines of the operator:\n" + strings.Join(lines, "\n"))
}

// buildProgram builds a main package of the examples into bin/ if it is outdated.
func buildProgram(ctx context.Context, root, name, pkg string, out *screen) (string, error) {
	binary := filepath.Join(root, "bin", name)
	if _, err := os.Stat(binary); err != nil {
		out.say("compiling " + pkg + " of the examples, which takes minutes when nothing is cached")
	}

	command := goCommand(ctx, filepath.Join(root, "examples"), "build", "-o", binary, pkg)
	command.Stderr = os.Stderr

	if err := command.Run(); err != nil {
		return "", errors.Join(context.Cause(ctx), fmt.Errorf("build %s of the examples: %w", pkg, err))
	}

	return binary, nil
}

// freeAddresses returns two free loopback addresses.
func freeAddresses() ([2]string, error) {
	var found [2]string

	for i := range found {
		listener, err := net.Listen("tcp4", "127.0.0.1:0") //nolint:noctx // closed at once
		if err != nil {
			return found, fmt.Errorf("find a free port: %w", err)
		}
		defer listener.Close()

		found[i] = listener.Addr().String()
	}

	return found, nil
}
