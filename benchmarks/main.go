// Command benchmarks compares implementations that reconcile the same children on one API server: reconcilekit, hand-written
// CreateOrUpdate, server-side apply in every reconciliation, fluxcd/pkg/ssa and crossplane-runtime's applicators. The baselines are a
// reconciler with only the cached reads, and a client that only sends the requests.
//
// It starts etcd and kube-apiserver from the folder KUBEBUILDER_ASSETS, or uses the cluster of -kubeconfig. Each subject runs in a
// process of its own. It writes the rows to results.json, and exits with status 1 if reconcilekit exceeds a promised limit.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/reconcilekit/reconcilekit/benchmarks/harness"
	"github.com/reconcilekit/reconcilekit/benchmarks/report"
	"github.com/reconcilekit/reconcilekit/benchmarks/subject"
	"github.com/reconcilekit/reconcilekit/benchmarks/widget"
	"github.com/reconcilekit/reconcilekit/benchmarks/worker"
)

type settings struct {
	scenarios, subjects, steady string
	owners, children, churn     int
	foreign                     int
	runs, rounds                int
	out, kubeconfig, profile    string
	worker, drive               bool
}

func parse() settings {
	var s settings
	flags := flag.NewFlagSet("benchmarks", flag.ExitOnError) // controller-runtime registers flags of its own
	flags.StringVar(&s.scenarios, "scenario", "", "scenarios to run, separated by commas; all if empty: "+strings.Join(report.Scenarios(), ", "))
	flags.StringVar(&s.subjects, "subjects", "", "subjects to run, separated by commas; all if empty: "+strings.Join(names(), ", "))
	flags.StringVar(&s.steady, "steady-children", "1,5,50", "numbers of children in the scenario steady")
	flags.IntVar(&s.owners, "owners", 1000, "owners in all scenarios but steady and prune")
	flags.IntVar(&s.children, "children", 5, "children of each of these owners")
	flags.IntVar(&s.churn, "churn", 10000, "status updates of children in the scenario churn")
	flags.IntVar(&s.foreign, "foreign", 50000, "Secrets and ConfigMaps of others in the scenario foreign")
	flags.IntVar(&s.runs, "runs", 5, "runs of the scenario steady; the median is reported")
	flags.IntVar(&s.rounds, "rounds", 3, "rounds of the scenario converge for reconcilekit and the bare client; the median is reported")
	flags.StringVar(&s.out, "out", "results.json", "file for the results")
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", "cluster to use instead of an own API server; it must not run anything important")
	flags.StringVar(&s.profile, "profile", "", "folder for CPU and allocation profiles of each subject's process; none if empty")
	flags.BoolVar(&s.worker, "worker", false, "run as the process of one subject (used by the benchmark itself)")
	flags.BoolVar(&s.drive, "drive", false, "with -worker: start no controller (used by the benchmark itself)")
	_ = flags.Parse(os.Args[1:]) // exits on an error
	return s
}

func main() {
	ctrl.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	s := parse()
	run := bench
	if s.worker {
		run = work
	}
	err := run(ctx, s)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmarks:", err)
		os.Exit(1)
	}
}

// work runs the process of one subject.
func work(ctx context.Context, s settings) error {
	done, err := profile(s.profile, s.subjects)
	if err != nil {
		return err
	}
	err = worker.Run(ctx, os.Stdin, os.Stdout, worker.Options{
		Kubeconfig: s.kubeconfig, Subject: s.subjects, Owners: s.owners, Drive: s.drive,
	})
	return errors.Join(err, done())
}

func bench(ctx context.Context, s settings) error {
	h, err := plan(s)
	if err != nil {
		return err
	}
	stop, err := connect(h, s.kubeconfig)
	if err != nil {
		return err
	}
	results := report.Results{
		Command: strings.Join(slices.Concat([]string{"benchmarks"}, os.Args[1:]), " "),
		Date:    time.Now().UTC().Format(time.RFC3339),
		Machine: fmt.Sprintf("%d CPUs, %s/%s, %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version()),
	}
	results.Rows, err = h.Run(ctx)
	results.Violations = append([]string{}, report.Check(results.Rows)...) // an empty list in the file, not null
	report.Requests(os.Stdout, results.Rows)
	err = errors.Join(err, report.Table(os.Stdout, results.Rows), results.Save(s.out), stop())
	if len(results.Violations) > 0 {
		err = errors.Join(err, fmt.Errorf("promised numbers were missed:\n  %s", strings.Join(results.Violations, "\n  ")))
	}
	return err
}

// plan checks the settings.
func plan(s settings) (*harness.Harness, error) {
	h := &harness.Harness{
		Prefix: "benchmark-" + strconv.FormatInt(time.Now().Unix(), 36),
		Owners: s.owners, Children: s.children, Churn: s.churn, Foreign: s.foreign, Runs: s.runs, Rounds: s.rounds,
		Profile: s.profile, Log: os.Stderr,
	}
	var errs []error
	var err error
	h.Scenarios, err = choose("scenario", s.scenarios, report.Scenarios())
	errs = append(errs, err)
	h.Subjects, err = choose("subjects", s.subjects, names())
	errs = append(errs, err)
	for field := range strings.SplitSeq(s.steady, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 {
			errs = append(errs, fmt.Errorf("-steady-children: %q must be a positive number", field))
		}
		h.SteadyChildren = append(h.SteadyChildren, n)
	}
	if s.owners < 1 || s.children < 1 || s.churn < 1 {
		errs = append(errs, errors.New("-owners, -children and -churn must be positive"))
	}
	return h, errors.Join(errs...)
}

// choose returns the chosen names, or all if none are chosen.
func choose(option, chosen string, all []string) ([]string, error) {
	if chosen == "" {
		return all, nil
	}
	out := strings.Split(chosen, ",")
	for _, name := range out {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("-%s: %q is not one of %s", option, name, strings.Join(all, ", "))
		}
	}
	return out, nil
}

func names() []string {
	var out []string
	for _, s := range subject.All() {
		out = append(out, s.Name)
	}
	return out
}

// connect starts an API server, or uses the given one, and installs the owner's kind.
func connect(h *harness.Harness, kubeconfig string) (stop func() error, err error) {
	environment := &envtest.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{widget.CRD()}}
	if kubeconfig != "" {
		existing := true
		environment.UseExistingCluster = &existing
		if environment.Config, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
			return nil, err
		}
	}
	own := server{environment}
	own.configure()
	if h.Config, err = environment.Start(); err != nil {
		return nil, fmt.Errorf("start the API server of KUBEBUILDER_ASSETS=%q: %w", os.Getenv("KUBEBUILDER_ASSETS"), err)
	}
	if kubeconfig != "" {
		h.Kubeconfig = kubeconfig
		return environment.Stop, nil
	}
	folder, err := os.MkdirTemp("", "benchmarks")
	if err != nil {
		return nil, errors.Join(err, environment.Stop())
	}
	h.Kubeconfig, h.Server = filepath.Join(folder, "kubeconfig"), own
	stop = func() error { return errors.Join(environment.Stop(), os.RemoveAll(folder)) }
	if err := os.WriteFile(h.Kubeconfig, environment.KubeConfig, 0o600); err != nil {
		return nil, errors.Join(err, stop())
	}
	return stop, nil
}
