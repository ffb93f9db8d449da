package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/reconcilekit/reconcilekit/hack/controlplane/assets"
)

// Options configures [Start].
type Options struct {
	// Name is the name of the cluster. Required: lower case letters, digits, dashes.
	Name string
	// Assets is the folder with the components. Required, see [assets.Ensure].
	Assets string
	// ServerOnly starts only etcd and kube-apiserver: there are no pods, no node, no service accounts and no garbage collection.
	ServerOnly bool
	// Kubeconfig is the path of a copy of the administrator's kubeconfig. Optional.
	Kubeconfig string
	// AdmissionPlugins are enabled in addition to the API server's defaults.
	AdmissionPlugins []string
	// OwnerPID is a process ID: after the process has ended, the next Start removes the cluster. With 0 only Stop does.
	OwnerPID int
	// Progress receives progress messages. Required.
	Progress io.Writer
}

// names returns the components to start.
func (o Options) names() []string {
	if o.ServerOnly {
		return assets.ServerNames()
	}

	return assets.Names()
}

// startDeadline is the timeout of the start, which takes 10 s on two idle cores.
const startDeadline = 3 * time.Minute

// startAttempts is the maximum number of starts that fail because another process took a free port in the meantime.
const startAttempts = 3

// portTaken reports whether the log of a component contains that error.
func portTaken(err error) bool {
	return strings.Contains(err.Error(), "address already in use")
}

// Start starts a cluster and returns the path of its kubeconfig once its node is ready and its service accounts work. A running cluster
// with the name is kept; one that runs partially is replaced.
func Start(ctx context.Context, options Options) (kubeconfig string, err error) {
	dir, err := folderOf(options.Name)
	if err != nil {
		return "", err
	}

	if err := sweep(ctx, options.Progress); err != nil {
		return "", err
	}

	kubeconfig = filepath.Join(dir, kubeconfigOf["admin"])

	if running(ctx, dir, options.names()) {
		fmt.Fprintf(options.Progress, "control plane: cluster %q is already running\n", options.Name)

		return kubeconfig, copyKubeconfig(kubeconfig, options.Kubeconfig)
	}

	if err := stopIn(ctx, dir); err != nil {
		return "", err
	}

	ctx, cancel := context.WithTimeoutCause(ctx, startDeadline,
		fmt.Errorf("cluster %q did not start within %s", options.Name, startDeadline))
	defer cancel()

	began := time.Now()

	for attempt := 1; ; attempt++ {
		err := startIn(ctx, dir, options)
		if err == nil {
			break
		}

		if err := errors.Join(err, stopIn(context.WithoutCancel(ctx), dir)); attempt == startAttempts || !portTaken(err) {
			return "", err
		}
	}

	fmt.Fprintf(options.Progress, "control plane: cluster %q is ready after %s, logs in %s\n",
		options.Name, time.Since(began).Round(100*time.Millisecond), dir)

	return kubeconfig, copyKubeconfig(kubeconfig, options.Kubeconfig)
}

// starter starts the processes of one cluster, in order.
type starter struct {
	dir     string
	options Options
	ports   ports
	state   state
}

// startIn starts all components in dir and waits until they work.
func startIn(ctx context.Context, dir string, options Options) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create the folder of the cluster: %w", err)
	}

	free, err := freePorts()
	if err != nil {
		return err
	}

	if err := writeCredentials(dir, free.APIServer); err != nil {
		return fmt.Errorf("write the credentials of the cluster: %w", err)
	}

	s := &starter{dir: dir, options: options, ports: free, state: state{OwnerPID: options.OwnerPID}}

	if err := s.start("etcd", etcdArgs(dir, free)); err != nil {
		return err
	}

	if err := s.start("kube-apiserver", apiServerArgs(dir, free, options.AdmissionPlugins)); err != nil {
		return err
	}

	probe, err := newProbe(dir, free)
	if err != nil {
		return err
	}

	if err := s.await(ctx, "the API server", "kube-apiserver", probe.apiServerReady); err != nil {
		return err
	}

	if options.ServerOnly {
		return nil
	}

	rest := map[string][]string{
		"kube-controller-manager": controllerManagerArgs(dir, free),
		"kube-scheduler":          schedulerArgs(dir, free),
		"kwok":                    kwokArgs(dir, options.Assets),
	}
	for _, name := range []string{"kube-controller-manager", "kube-scheduler", "kwok"} {
		if err := s.start(name, rest[name]); err != nil {
			return err
		}
	}

	return s.awaitAll(ctx, probe)
}

// awaitAll waits until a pod could run: service accounts, scheduler, node.
func (s *starter) awaitAll(ctx context.Context, probe *probe) error {
	if err := s.await(ctx, "the node to be created", "kube-apiserver", probe.createNode); err != nil {
		return err
	}

	if err := s.await(ctx, "the default service account", "kube-controller-manager", probe.serviceAccountReady); err != nil {
		return err
	}

	if err := s.await(ctx, "the scheduler", "kube-scheduler", probe.schedulerReady); err != nil {
		return err
	}

	return s.await(ctx, "the node to be ready", "kwok", probe.nodeReady)
}

// start starts one component and records it in the state.
func (s *starter) start(name string, args []string) error {
	started, err := spawn(s.dir, filepath.Join(s.options.Assets, name), name, args)
	if err != nil {
		return err
	}

	s.state.Processes = append(s.state.Processes, started)

	return s.state.save(s.dir)
}

// await calls check until it returns nil, or ctx ends, or a component has ended.
func (s *starter) await(ctx context.Context, what, culprit string, check func(context.Context) error) error {
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}

		for _, p := range s.state.Processes {
			if !p.alive(ctx, s.dir) {
				return fmt.Errorf("%s ended while waiting for %s; its last log lines:\n%s", p.Name, what, logTail(s.dir, p.Name))
			}
		}

		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: waiting for %s (%w); last log lines of %s:\n%s",
				context.Cause(ctx), what, err, culprit, logTail(s.dir, culprit))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// copyKubeconfig copies the kubeconfig to the user's path, if any.
func copyKubeconfig(from, to string) error {
	if to == "" {
		return nil
	}

	data, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}

	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("create the folder of the kubeconfig: %w", err)
	}

	return os.WriteFile(to, data, 0o600)
}
