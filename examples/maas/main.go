// Command maas is the operator of models as a service.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
	"github.com/reconcilekit/reconcilekit/examples/maas/operator"
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
	config         backend.Config
	maintain       time.Duration
}

func main() {
	if err := run(parse(flag.CommandLine, os.Args[1:])); err != nil {
		fmt.Fprintln(os.Stderr, "maas:", err)
		os.Exit(1)
	}
}

// parse reads the flags; the flag set decides what happens when they are wrong.
func parse(flags *flag.FlagSet, args []string) options {
	var o options
	if known := flags.Lookup("kubeconfig"); known == nil { // controller-runtime may have registered it
		flags.StringVar(&o.kubeconfig, "kubeconfig", "", "the cluster to run against; empty means the one that the process runs in, or $KUBECONFIG")
	}
	flags.StringVar(&o.metrics, "metrics-bind-address", ":8080", `where metrics are served; "0" serves none`)
	flags.StringVar(&o.probes, "health-probe-bind-address", ":8081", `where /healthz and /readyz are served; "0" serves none`)
	flags.BoolVar(&o.leaderElect, "leader-elect", false, "let only one of several instances work")
	flags.IntVar(&o.webhookPort, "webhook-port", webhook.DefaultPort, "port of the webhook server; this operator has no webhooks and starts none")
	flags.StringVar(&o.webhookCertDir, "webhook-cert-dir", "", "folder with tls.crt and tls.key of the webhook server")
	flags.BoolVar(&o.describe, "describe", false, "print what the operator watches, reads and writes, and exit")
	flags.StringVar(&o.config.Gateway.Name, "gateway-name", "maas-default-gateway", "the gateway that serves all models")
	flags.StringVar(&o.config.Gateway.Namespace, "gateway-namespace", "openshift-ingress", "namespace of that gateway")
	flags.StringVar(&o.config.AppNamespace, "maas-api-namespace", "opendatahub", "where the API of the platform runs")
	flags.StringVar(&o.config.SubscriptionNamespace, "maas-subscription-namespace", "models-as-a-service",
		"the namespace whose subscriptions, auth policies and tenants count")
	flags.Int64Var(&o.config.MetadataTTL, "metadata-cache-ttl", 60, "how many seconds gateways remember keys and subscriptions")
	flags.Int64Var(&o.config.AuthzTTL, "authz-cache-ttl", 60, "how many seconds gateways remember decisions; at most metadata-cache-ttl counts")
	flags.DurationVar(&o.maintain, "subscription-namespace-maintain-interval", 30*time.Second, "how often to look after the namespace of subscriptions")
	o.log.BindFlags(flags)
	_ = flags.Parse(args) // the flag set exits or panics by itself
	if known := flags.Lookup("kubeconfig"); known != nil {
		o.kubeconfig = known.Value.String()
	}
	return o
}

// run starts the operator and returns when it ends.
func run(o options) error {
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&o.log)))
	if o.config.MetadataTTL < 0 || o.config.AuthzTTL < 0 {
		return fmt.Errorf("metadata-cache-ttl %d and authz-cache-ttl %d must not be negative", o.config.MetadataTTL, o.config.AuthzTTL)
	}
	scheme := runtime.NewScheme()
	if err := backend.AddToScheme(scheme); err != nil {
		return err
	}
	o.config.Manifests, o.config.Images = os.Getenv("MAAS_PLATFORM_MANIFESTS"), images()
	maas, err := operator.New(o.config)
	if err != nil {
		return err
	}
	if o.describe {
		page, err := describe(scheme, maas)
		if err != nil {
			return err
		}
		fmt.Print(page.Markdown())
		return nil
	}
	config, err := load(o.kubeconfig)
	if err != nil {
		return err
	}
	cache, err := maas.Cache(scheme)
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, manager.Options{
		Scheme:                 scheme,
		Cache:                  cache,
		Metrics:                server.Options{BindAddress: o.metrics},
		HealthProbeBindAddress: o.probes,
		LeaderElection:         o.leaderElect,
		LeaderElectionID:       "maas-controller.maas.opendatahub.io",
		WebhookServer:          webhook.NewServer(webhook.Options{Port: o.webhookPort, CertDir: o.webhookCertDir}),
	})
	if err != nil {
		return fmt.Errorf("make the manager: %w", err)
	}
	err = errors.Join(keepHome(mgr, o), maas.SetupWithManager(mgr), mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("ping", healthz.Ping))
	if err != nil {
		return err
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}

// describe is the page of the operator.
func describe(scheme *runtime.Scheme, maas *operator.Operator) (controller.Page, error) {
	page, err := controller.NewPage("maas", scheme, maas.Declared()...)
	rules, rulesErr := operator.ExtraRules()
	page.LeaderElection, page.ExtraRules = true, rules
	return page, errors.Join(err, rulesErr)
}

// images are those that the environment gives, by the parameter of the platform's
// manifests.
func images() map[string]string {
	images := map[string]string{}
	for param, variable := range map[string]string{
		"maas-api-image":             "RELATED_IMAGE_ODH_MAAS_API_IMAGE",
		"maas-controller-image":      "RELATED_IMAGE_ODH_MAAS_CONTROLLER_IMAGE",
		"payload-processing-image":   "RELATED_IMAGE_ODH_AI_GATEWAY_PAYLOAD_PROCESSING_IMAGE",
		"maas-api-key-cleanup-image": "RELATED_IMAGE_UBI_MINIMAL_IMAGE",
	} {
		if image := os.Getenv(variable); image != "" {
			images[param] = image
		}
	}
	return images
}

// keepHome keeps the namespace of subscriptions and the tenant.
func keepHome(mgr manager.Manager, o options) error {
	home, err := operator.NewHome(mgr, o.config, o.maintain)
	if err != nil {
		return err
	}
	return errors.Join(mgr.Add(home), mgr.AddReadyzCheck("home", home.Ready))
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
