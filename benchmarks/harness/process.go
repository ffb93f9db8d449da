// Package harness runs the scenarios: it creates the worlds, starts a process for each subject, and collects the rows.
package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"github.com/reconcilekit/reconcilekit/benchmarks/worker"
)

// process is a running worker.
type process struct {
	command *exec.Cmd
	in      io.WriteCloser
	send    *json.Encoder
	receive *json.Decoder
}

// start runs this program as a worker.
func (h *Harness) start(ctx context.Context, subject string, owners int, drive bool) (*process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}

	command := exec.CommandContext(ctx, program, "-worker", "-kubeconfig="+h.Kubeconfig, "-subjects="+subject,
		"-owners="+strconv.Itoa(owners), "-drive="+strconv.FormatBool(drive), "-profile="+h.Profile)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	return &process{command: command, in: in, send: json.NewEncoder(in), receive: json.NewDecoder(out)}, nil
}

// do sends a command and waits for its measurement.
func (p *process) do(command worker.Command) (*worker.Measurement, error) {
	if err := p.send.Encode(command); err != nil {
		return nil, fmt.Errorf("%s: the worker ended: %w", command.Do, err)
	}
	m := &worker.Measurement{}
	if err := p.receive.Decode(m); err != nil {
		return nil, fmt.Errorf("%s: no response from the worker: %w", command.Do, err)
	}
	if m.Error != "" {
		return nil, fmt.Errorf("%s: %s", command.Do, m.Error)
	}
	return m, nil
}

// terminate sends the worker a termination signal, as Kubernetes does; [process.stop] waits for the end.
func (p *process) terminate() error { return p.command.Process.Signal(syscall.SIGTERM) }

// stop ends the worker.
func (p *process) stop() error {
	return errors.Join(p.in.Close(), p.command.Wait())
}
