package operator

import (
	"flag"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
)

// Operator is a program that runs controllers. Name and Controllers are required. Run a value at most once, because its
// controllers are added to the manager.
type Operator struct {
	// Name is the name of the program in errors, in the usage and on its page.
	Name string
	// Version is the version of the program, in the log, in the metric reconcilekit_build_info and in the output of the
	// command "version". Default the value of
	// -ldflags=-X=github.com/reconcilekit/reconcilekit/reconcile/operator.version=v1.2.3, then the version of the main
	// module in the build information.
	Version string
	// LeaseName is the name of the lease of the leader election, which must not change between versions. Default Name.
	LeaseName string
	// AddToScheme adds the kinds of the controllers to the scheme, which has the kinds of client-go.
	AddToScheme []func(*runtime.Scheme) error
	// Controllers are the declared controllers, in the order of the page. Configure may set them.
	Controllers []*controller.Controller

	// Flags adds flags of the product. Optional.
	Flags func(*flag.FlagSet)
	// Defaults replaces defaults of the flags in the package documentation, by the name of the flag.
	Defaults map[string]string
	// Configure sets fields that depend on flags or the environment, such as Controllers. It is called once for every
	// command except "version", after the flags are parsed and the scheme is complete. For "describe" there is no cluster
	// and possibly no environment. Optional.
	Configure func(*Operator, *runtime.Scheme) error

	// Webhooks returns the handlers of the webhook server by path, see [controller.ServeWebhooks]. Without handlers no
	// server is started. Optional.
	Webhooks func(manager.Manager) (map[string]http.Handler, error)
	// Setup adds runnables and checks to the manager. Optional.
	Setup func(manager.Manager) error
	// Describe sets the fields of the page that no controller declares: webhooks, services, extra permissions.
	// LeaderElection and Namespaces are already set. A nil Services is replaced by the Services of the generated
	// installation. Optional.
	Describe func(*dataflow.Page) error

	// Manager changes the options of the manager before it is created, for settings without a flag or a field. It must keep
	// the cache options of declared filters. Optional.
	Manager func(*manager.Options)
	// Config is the configuration of the cluster. Default that of the flag -kubeconfig and the environment.
	Config *rest.Config
}
