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

// command is something that the program can do. The first argument names it.
type command struct {
	name string
	help string
	// arguments names what stands beside the flags, in its order; none is the usual.
	arguments []string
	// flags adds those of the command alone; nil adds none.
	flags func(*process, *flag.FlagSet)
	// common names the flags of every operator that the command has, besides its own; "*" is all of them and those of the product.
	common []string
	run    func(context.Context, *process) error
}

// process is an operator whose arguments are parsed: what a command works with.
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
	keeper   *certificate.Keeper // of the webhook server; nil where somebody else provides its certificate

	explanation explainSettings
	arguments   []string // those that the command names
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

// complete makes the scheme and fills in what depends on the flags.
func (p *process) complete() error {
	p.scheme = runtime.NewScheme()
	for _, add := range append([]func(*runtime.Scheme) error{clientscheme.AddToScheme}, p.AddToScheme...) {
		if err := add(p.scheme); err != nil {
			return fmt.Errorf("add kinds to the scheme: %w", err)
		}
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

// page describes the controllers, and what no controller knows.
func (p *process) page() (dataflow.Page, error) {
	page, err := controller.NewPage(p.Name, p.scheme, p.Controllers...)
	if err != nil {
		return page, err
	}
	page.LeaderElection, page.Namespaces = true, p.namespaces
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

// services are the Services of the generated installation, see package install.
func services(page *dataflow.Page) []dataflow.Service {
	list := []dataflow.Service{{Name: page.Name + "-metrics", Port: 8443, PortName: "metrics"}}
	if len(page.Webhooks)+len(page.Conversions) > 0 {
		list = append(list, dataflow.Service{Name: page.Name + "-webhooks", Port: 443, PortName: "webhooks"})
	}
	return list
}
