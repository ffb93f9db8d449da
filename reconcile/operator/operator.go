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

// Operator is a program that runs controllers. Name and Controllers are required, everything else has a default. A value runs once:
// its controllers belong to the manager then.
type Operator struct {
	// Name is the name of the program in errors, in the usage and on its page.
	Name string
	// Version is that of the program, in the log, in the metric reconcilekit_build_info and in what the command "version" prints. Default what
	// -ldflags=-X=github.com/reconcilekit/reconcilekit/reconcile/operator.version=v1.2.3 has set, then the version of the main module, which Go takes
	// from the repository where the build has it.
	Version string
	// LeaseName is the name of the lease of the leader election, which must not change between versions. Default Name.
	LeaseName string
	// AddToScheme add the kinds that the controllers work with. The kinds of client-go are known without.
	AddToScheme []func(*runtime.Scheme) error
	// Controllers are the declared controllers, in the order of the page. Configure may fill them in.
	Controllers []*controller.Controller

	// Flags adds flags of the product. Default none.
	Flags func(*flag.FlagSet)
	// Defaults are the defaults of flags that differ from those in the package documentation, by the name of the flag.
	Defaults map[string]string
	// Configure completes the operator with what depends on flags or the environment, such as Controllers. It is called once, for
	// every command, when the flags are parsed and the scheme is complete; "describe" calls it without a cluster and, maybe,
	// without an environment. Default nothing.
	Configure func(*Operator, *runtime.Scheme) error

	// Webhooks returns the handlers of the webhook server by path, see [controller.ServeWebhooks]. None starts no server. Default
	// none.
	Webhooks func(manager.Manager) (map[string]http.Handler, error)
	// Setup adds to the manager what is no controller: runnables and checks. Default nothing.
	Setup func(manager.Manager) error
	// Describe completes the page with what no controller declares: webhooks, services, extra rights. LeaderElection and Namespaces
	// are set before. Services that it leaves nil become those of the generated installation. Default nothing.
	Describe func(*dataflow.Page) error

	// Manager changes the options of the manager before it is made, for what no flag and no other field says. The cache options for
	// a declared filter must stay. Default nothing.
	Manager func(*manager.Options)
	// Config is the cluster. Default the one that the flag -kubeconfig and the environment name.
	Config *rest.Config
}
