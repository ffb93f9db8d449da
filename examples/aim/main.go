// Command aim is the operator of AIMService.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/reconcilekit/reconcilekit/examples/aim/aimservice"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

//go:generate env -u CI -u KUBEBUILDER_ASSETS UPDATE_GOLDEN=1 go test -count=1 -run=^TestGenerated$ .

// options are the flags of the command.
type options struct {
	kubeconfig     string
	metrics        string
	probes         string
	leaderElect    bool
	leaseNamespace string
	webhookPort    int
	webhookCertDir string
	describe       bool
	log            zap.Options
}

func main() {
	o := parse(flag.CommandLine, os.Args[1:])
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "aim:", err)
		os.Exit(1)
	}
}

// parse reads the flags; the flag set decides what happens when they are wrong.
func parse(flags *flag.FlagSet, args []string) options {
	var o options
	if known := flags.Lookup("kubeconfig"); known == nil { // controller-runtime may have registered it
		flags.StringVar(&o.kubeconfig, "kubeconfig", "", "the cluster to run against; empty means the one that the process runs in, or $KUBECONFIG")
	}
	flags.StringVar(&o.metrics, "metrics-bind-address", "0", `where metrics are served, such as ":8080"; "0" serves none`)
	flags.StringVar(&o.probes, "health-probe-bind-address", ":8081", `where /healthz and /readyz are served; "0" serves none`)
	flags.BoolVar(&o.leaderElect, "leader-elect", false, "let only one of several instances work")
	flags.StringVar(&o.leaseNamespace, "leader-election-namespace", "", "where the lease is; empty means the namespace that the process runs in")
	flags.IntVar(&o.webhookPort, "webhook-port", webhook.DefaultPort, "port of the webhook server; this operator has no webhooks and starts none")
	flags.StringVar(&o.webhookCertDir, "webhook-cert-dir", "", "folder with tls.crt and tls.key of the webhook server")
	flags.BoolVar(&o.describe, "describe", false, "print what the operator watches, reads and writes, and exit")
	o.log.BindFlags(flags)
	_ = flags.Parse(args) // the flag set exits or panics by itself
	if known := flags.Lookup("kubeconfig"); known != nil {
		o.kubeconfig = known.Value.String()
	}
	return o
}

// run does what the options ask for, and returns when the operator ends.
func run(o options) error {
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&o.log)))
	if o.describe {
		page, err := describe()
		if err == nil {
			fmt.Print(page.Markdown())
		}
		return err
	}
	config, err := load(o.kubeconfig)
	if err != nil {
		return err
	}
	return serve(ctrl.SetupSignalHandler(), config, o.manager())
}

// manager returns the settings of the manager that the flags ask for.
func (o options) manager() manager.Options {
	return manager.Options{
		Metrics:                 server.Options{BindAddress: o.metrics},
		HealthProbeBindAddress:  o.probes,
		LeaderElection:          o.leaderElect,
		LeaderElectionID:        "aim-engine.aim.eai.amd.com",
		LeaderElectionNamespace: o.leaseNamespace,
		WebhookServer:           webhook.NewServer(webhook.Options{Port: o.webhookPort, CertDir: o.webhookCertDir}),
	}
}

// serve runs the operator until the context ends.
func serve(ctx context.Context, config *rest.Config, options manager.Options) error {
	services := aimservice.New()
	options.Scheme = runtime.NewScheme()
	if err := aimservice.AddToScheme(options.Scheme); err != nil {
		return err
	}
	var err error
	if options.Cache, err = controller.CacheOptions(options.Scheme, services); err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return fmt.Errorf("make the manager: %w", err)
	}
	err = errors.Join(
		services.SetupWithManager(mgr),
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddReadyzCheck("ping", healthz.Ping),
	)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// describe reports what the operator watches, reads and writes.
func describe() (controller.Page, error) {
	scheme := runtime.NewScheme()
	if err := aimservice.AddToScheme(scheme); err != nil {
		return controller.Page{}, err
	}
	page, err := controller.NewPage("aim", scheme, aimservice.New())
	page.LeaderElection = true
	return page, err
}

// load finds the cluster.
func load(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		return ctrl.GetConfig()
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", kubeconfig, err)
	}
	return config, nil
}
