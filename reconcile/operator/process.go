package operator

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/operator/internal/certificate"
)

// command is a command of the program. The first argument is its name.
type command struct {
	name string
	help string
	// arguments are the names of the positional arguments, in order. Most commands have none.
	arguments []string
	// flags adds the flags that only the command has. Optional.
	flags func(*process, *flag.FlagSet)
	// common are the flags of every operator that the command accepts in addition to its own. "*" means all of them and
	// those of the product.
	common []string
	run    func(context.Context, *process) error
}

// process is an operator with parsed arguments.
type process struct {
	Operator
	settings

	command  command
	scheme   *runtime.Scheme
	flags    *flag.FlagSet
	describe describeSettings
	preview  previewSettings
	stdout   io.Writer
	stderr   io.Writer

	requests *leaseRequests      // for the lease; nil without a leader election
	keeper   *certificate.Keeper // of the webhook server; nil if another process provides the certificate

	explanation explainSettings
	arguments   []string // the positional ones
}

// settings are the values of the flags that every operator has.
type settings struct {
	kubeconfig     string
	metrics        address
	probes         address
	leaderElect    boolean
	leaseNamespace string
	shard          shardSettings
	namespaces     namespaces
	leaseID        string
	lease          leaseSettings
	version        boolean
	webhookPort    port
	webhookCertDir string
	webhookService account
	describe       boolean
	explanations   boolean
	metricsSecure  boolean
	log            zap.Options
}

// Scheme returns a new scheme with the kinds of client-go and those of AddToScheme, for the clients of tests. Configure is not called.
func (o Operator) Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range append([]func(*runtime.Scheme) error{clientscheme.AddToScheme}, o.AddToScheme...) {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("add kinds to the scheme: %w", err)
		}
	}
	return scheme, nil
}

// complete creates the scheme and sets the fields that depend on the flags.
func (p *process) complete() (err error) {
	if p.scheme, err = p.Scheme(); err != nil {
		return err
	}
	if p.Configure != nil {
		if err := p.Configure(&p.Operator, p.scheme); err != nil {
			return err
		}
	}
	if len(p.Controllers) == 0 {
		return errors.New("the operator has no controllers: set operator.Operator.Controllers, or let Configure fill them in")
	}
	return nil
}

// page returns the page of the controllers with the fields that Describe sets.
func (p *process) page() (dataflow.Page, error) {
	page, err := controller.NewPage(p.Name, p.scheme, p.Controllers...)
	if err != nil {
		return page, err
	}
	page.LeaderElection, page.Leases, page.Namespaces = true, p.leases(), p.namespaces
	if p.Describe != nil {
		if err := p.Describe(&page); err != nil {
			return page, fmt.Errorf("describe the operator: %w", err)
		}
	}
	if page.Services == nil {
		page.Services = services(&page)
	}
	return page, nil
}

// services returns the Services of the generated installation, see package install.
func services(page *dataflow.Page) []dataflow.Service {
	list := []dataflow.Service{{Name: page.Name + "-metrics", Port: 8443, PortName: "metrics"}}
	if len(page.Webhooks)+len(page.Conversions) > 0 {
		list = append(list, dataflow.Service{Name: page.Name + "-webhooks", Port: 443, PortName: "webhooks"})
	}
	return list
}
