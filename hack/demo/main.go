package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// readyWithin is the timeout for the owners; when it is exceeded, the demo prints the reasons and exits with code 1.
const readyWithin = 5 * time.Minute

// The operator gets time to finish work that readiness did not wait for, and is then observed in steady state. Until 7 s after the last
// change of the CRDs it may query the discovery API for kinds that the cluster may lack.
const (
	settle = 8 * time.Second
	rest   = 5 * time.Second
)

func main() {
	var o options

	flag.StringVar(&o.product, "product", "aim", "`name` of the folder in examples/ to show")
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "`file` of a cluster to use instead of starting one")
	flag.BoolVar(&o.standin, "standin", false, "start the stand-in also if foreign CRDs already exist; never if their controllers run")
	flag.BoolVar(&o.deployed, "deployed", false, "start no operator: it already runs in the given cluster")
	flag.StringVar(&o.fail, "fail", "", "`name` of the failure to show, "+
		strings.Join(slices.Sorted(maps.Keys(failures())), ", ")+": the demo shows it from outside and then repairs it")
	flag.BoolVar(&o.readme, "readme", false, "write the steps of the demo into the README of the product, between its markers")
	flag.DurationVar(&o.readyWithin, "ready-within", readyWithin, "time limit for the owners")
	flag.Parse()

	// A closed terminal and a stopped CI job clean up like ctrl-C.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, o, newScreen(os.Stdout))

	interrupted := ctx.Err() != nil

	stop()

	switch {
	case err == nil:
	case interrupted:
		fmt.Fprintln(os.Stderr, "demo: interrupted, removed everything")
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// options are the flags of the command.
type options struct {
	product     string
	kubeconfig  string
	standin     bool
	deployed    bool
	fail        string
	readme      bool
	readyWithin time.Duration
}

// run runs the demo.
func run(ctx context.Context, o options, out *screen) (err error) {
	p, err := findProduct(o.product)
	if err != nil {
		return err
	}

	if o.fail != "" {
		if _, err := findFailure(o.fail); err != nil {
			return err
		}

		if o.kubeconfig != "" {
			return errors.New("FAIL works only in the cluster that the demo starts, not in a given one")
		}

		if o.readme {
			return errors.New("README is for the demo without a failure: remove FAIL")
		}
	}

	out.brief = p.script.brief(o.fail)

	logs, err := os.MkdirTemp("", "demo-"+p.name+"-")
	if err != nil {
		return fmt.Errorf("create a folder for logs: %w", err)
	}

	defer func() {
		if err == nil || ctx.Err() != nil {
			err = errors.Join(err, os.RemoveAll(logs))
		} else {
			out.say("logs are kept in " + logs)
		}
	}()

	out.step("control plane")

	plane, err := startPlane(ctx, p.root, o.kubeconfig, p.serverOnly(o.fail))
	if err != nil {
		return err
	}

	defer func() { err = errors.Join(err, plane.stop(context.WithoutCancel(ctx))) }()

	plane.logs = logs

	return show(ctx, o, p, plane, out)
}

// show runs the operator on the control plane and shows the samples.
func show(ctx context.Context, o options, p product, plane *plane, out *screen) (err error) {
	c, err := connect(plane.kubeconfig)
	if err != nil {
		return err
	}

	out.step("CRDs")

	unserved, err := c.installCRDs(ctx, p)
	if err != nil {
		return err
	}

	o.standin = o.standin || unserved

	out.step("operator")

	programs, err := startPrograms(ctx, o, p, c, plane, out)
	if err != nil {
		return err
	}
	defer programs.stop()

	// An existing cluster may not be able to reach this process, and keeps its own webhooks.
	if !plane.given {
		if err := programs.hooks.install(ctx, c); err != nil {
			return errors.Join(err, programs.lastWords())
		}
	}

	scene := &scene{client: c, flow: programs.flow}

	if plane.given {
		// The operator still runs here and removes its finalizers.
		defer func() { err = errors.Join(err, c.deleteAll(context.WithoutCancel(ctx), scene.created)) }()
	}

	if err := programs.perform(ctx, o, p, scene, out); err != nil {
		return errors.Join(err, programs.lastWords())
	}

	if err := summarise(ctx, programs, p, scene, out); err != nil || !o.readme {
		return err
	}

	return writeReadme(p, out.recorded())
}

// perform applies the samples and waits until they are ready. Then it causes a failure, or executes the other steps of the script.
func (s *programs) perform(ctx context.Context, o options, p product, scene *scene, out *screen) error {
	switch {
	case len(p.script.Steps) == 0:
		out.step("samples")
	case o.fail != "": // other steps are skipped
		out.act(p.script.Steps[0].Say)
	default:
		out.act(p.script.heading(0))
	}

	if err := scene.apply(ctx, p.script.opening(p.samples)); err != nil {
		return err
	}

	if err := follow(ctx, o.readyWithin, scene, out); err != nil {
		return err
	}

	if o.fail != "" {
		return s.fail(ctx, o, p, scene, out)
	}

	return p.script.play(ctx, p, scene, out)
}

// summarise reports the totals and checks that the operator is in steady state.
func summarise(ctx context.Context, programs *programs, p product, scene *scene, out *screen) error {
	if programs.operator == nil {
		return nil // its metrics are not reachable
	}

	// A script changes the owners after they were ready.
	if _, err := scene.look(ctx); err != nil {
		return err
	}

	var counts [2]requestCounts

	for i, pause := range []time.Duration{settle, rest} {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}

		var err error
		if counts[i], err = programs.operator.requests(ctx); err != nil {
			return err
		}
	}

	out.summary(totals{
		steps: len(p.script.Steps), actors: scene.last, busy: counts[0], idle: counts[1].minus(counts[0]), restarts: programs.operator.restarts,
	})

	return nil
}

// repository returns the root folder of dir's repository.
func repository(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "hack", "demo", "go.mod")); err == nil {
			return at, nil
		}

		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no hack/demo in or above %s: run this inside the repository", dir)
		}
	}
}
