// Command modelregistry is the operator of ModelRegistry and of the model catalog.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/openshift"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/catalog"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/registry"
	hooks "github.com/reconcilekit/reconcilekit/examples/modelregistry/webhook"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

//go:generate env -u CI -u KUBEBUILDER_ASSETS UPDATE_GOLDEN=1 go test -count=1 -run=^TestGenerated$ .

// options are the flags of the command.
type options struct {
	kubeconfig     string
	metrics        string
	probes         string
	leaderElect    bool
	webhookPort    int
	webhookCertDir string
	describe       bool
	log            zap.Options
}

func main() {
	o := parse(flag.CommandLine, os.Args[1:])
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "modelregistry:", err)
		os.Exit(1)
	}
}

// parse reads the flags; the flag set decides what happens when they are wrong.
func parse(flags *flag.FlagSet, args []string) options {
	var o options
	if known := flags.Lookup("kubeconfig"); known == nil { // controller-runtime may have registered it
		flags.StringVar(&o.kubeconfig, "kubeconfig", "", "the cluster to run against; empty means the one that the process runs in, or $KUBECONFIG")
	}
	flags.StringVar(&o.metrics, "metrics-bind-address", "0", `where metrics are served, such as ":8443"; "0" serves none`)
	flags.StringVar(&o.probes, "health-probe-bind-address", ":8081", `where /healthz and /readyz are served; "0" serves none`)
	flags.BoolVar(&o.leaderElect, "leader-elect", false, "let only one of several instances work")
	flags.IntVar(&o.webhookPort, "webhook-port", webhook.DefaultPort, "port of the webhook server")
	flags.StringVar(&o.webhookCertDir, "webhook-cert-dir", "", "folder with tls.crt and tls.key of the webhook server")
	flags.BoolVar(&o.describe, "describe", false, "print what the operator watches, reads and writes, and exit")
	o.log.BindFlags(flags)
	_ = flags.Parse(args) // the flag set exits or panics by itself
	if known := flags.Lookup("kubeconfig"); known != nil {
		o.kubeconfig = known.Value.String()
	}
	return o
}

// settings reads the environment; an empty value counts as unset.
func settings() v1beta1.Settings {
	or := func(name, value string) string { return cmp.Or(os.Getenv(name), value) }
	return v1beta1.Settings{
		Namespace:     os.Getenv("REGISTRIES_NAMESPACE"),
		Webhooks:      os.Getenv("ENABLE_WEBHOOKS") != "false",
		DefaultDomain: os.Getenv("DEFAULT_DOMAIN"),
		RestImage:     or("REST_IMAGE", "quay.io/opendatahub/model-registry:latest"),
		ProxyImage:    or("KUBE_RBAC_PROXY_IMAGE", "quay.io/openshift/origin-kube-rbac-proxy:latest"),
		PostgresImage: or("POSTGRES_IMAGE", "quay.io/sclorg/postgresql-16-c10s:latest"),
	}
}

// catalogSettings are those of the model catalog.
func catalogSettings() catalog.Settings {
	or := func(name, value string) string { return cmp.Or(os.Getenv(name), value) }
	const data = "quay.io/opendatahub/odh-model-metadata-collection:latest"
	registries := settings()
	return catalog.Settings{
		Namespace:      registries.Namespace,
		Disabled:       os.Getenv("ENABLE_MODEL_CATALOG") == "false",
		SkipDatabase:   os.Getenv("SKIP_MODEL_CATALOG_DB_CREATION") == "true",
		DefaultDomain:  registries.DefaultDomain,
		Image:          registries.RestImage,
		ProxyImage:     registries.ProxyImage,
		PostgresImage:  registries.PostgresImage,
		DataImage:      or("CATALOG_DATA_IMAGE", data),
		BenchmarkImage: or("BENCHMARK_DATA_IMAGE", data),
		DatabaseUser:   or("CATALOG_POSTGRES_USER", "catalog_user"),
		DatabaseName:   or("CATALOG_POSTGRES_DATABASE", "model_catalog"),
	}
}

// operator is the controllers by their declarations.
type operator struct {
	registries *controller.Builder[*v1beta1.ModelRegistry, registry.Fetched, registry.Observation]
	catalog    *controller.Builder[*controller.Group, catalog.Fetched, catalog.Observation]
}

func newOperator(scheme *runtime.Scheme) (o operator, err error) {
	var errs [2]error
	o.registries, errs[0] = registry.New(scheme, settings())
	o.catalog, errs[1] = catalog.New(scheme, catalogSettings())
	return o, errors.Join(errs[:]...)
}

func (o operator) declared() []controller.Declared {
	return []controller.Declared{o.registries, o.catalog}
}

// setup adds the controllers to the manager. Without a namespace for it there is no catalog.
func (o operator) setup(mgr manager.Manager) error {
	if err := o.registries.SetupWithManager(mgr); err != nil {
		return err
	}
	if catalogSettings().Namespace == "" {
		mgr.GetLogger().Info("there is no model catalog: REGISTRIES_NAMESPACE is not set")
		return nil
	}
	return o.catalog.SetupWithManager(mgr)
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientscheme.AddToScheme(scheme), v1beta1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), openshift.AddToScheme(scheme))
}

// run does what the options ask for, and returns when the operator ends.
func run(o options) error {
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&o.log)))
	if o.describe {
		page, err := newPage()
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
		Metrics:                server.Options{BindAddress: o.metrics},
		HealthProbeBindAddress: o.probes,
		LeaderElection:         o.leaderElect,
		LeaderElectionID:       "85f368d1.opendatahub.io",
		WebhookServer:          webhook.NewServer(webhook.Options{Port: o.webhookPort, CertDir: o.webhookCertDir}),
	}
}

// serve runs the operator until the context ends.
func serve(ctx context.Context, config *rest.Config, options manager.Options) error {
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	controllers, err := newOperator(scheme)
	if err != nil {
		return err
	}
	options.Scheme = scheme
	if options.Cache, err = controller.CacheOptions(scheme, controllers.declared()...); err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return fmt.Errorf("make the manager: %w", err)
	}
	if settings().Webhooks {
		if err := controller.ServeWebhooks(mgr, hooks.Handlers(scheme, mgr.GetAPIReader(), settings())); err != nil {
			return err
		}
	}
	err = errors.Join(
		controllers.setup(mgr),
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddReadyzCheck("ping", healthz.Ping),
	)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// newPage reports what the operator watches, reads and writes.
func newPage() (controller.Page, error) {
	scheme, err := newScheme()
	if err != nil {
		return controller.Page{}, err
	}
	controllers, err := newOperator(scheme)
	if err != nil {
		return controller.Page{}, err
	}
	page, err := controller.NewPage("model-registry-operator", scheme, controllers.declared()...)
	if err != nil {
		return page, err
	}
	page.LeaderElection = true
	page.Webhooks = hooks.Describe()
	page.Services = []controller.Service{{Name: "model-registry-operator-webhook-service", Port: 443}}
	page.ExtraRules = append(registry.GrantedRules(), catalog.GrantedRules()...)
	return page, nil
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
