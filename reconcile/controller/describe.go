package controller

import (
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/description"
)

// Describe returns what the controller watches, reads and writes. It needs no cluster, so a main function can print the
// page and exit. It returns the same error as [Controller.SetupWithManager] for the same declarations.
func (c *Controller) Describe(scheme *runtime.Scheme) (dataflow.Description, error) {
	kinds, err := c.resolved(scheme)
	if err != nil {
		return dataflow.Description{}, err
	}
	d := dataflow.Description{
		Controller: c.name, FieldManager: c.names().FieldManager, Finalizer: c.names().Finalizer,
		Owners: kinds.Kinds[0].Selection(), Watches: description.Watches(kinds),
	}
	if kinds.Kinds[0].Representation == declaration.Virtual { // groups are not objects of a cluster
		d.Finalizer = ""
	}
	d.Access, d.Rules = description.Access(kinds, c.phases.finalizes()), description.Rules(kinds)
	for _, k := range c.externals {
		d.External = append(d.External, dataflow.External{Kind: k.Name(), Source: k.source, Watched: k.Watched()})
	}
	for _, table := range c.transitions {
		d.Transitions = append(d.Transitions, table.Drawing())
	}
	return d, nil
}

// NewPage describes the controllers of an operator. It needs no cluster.
func NewPage(name string, scheme *runtime.Scheme, controllers ...*Controller) (dataflow.Page, error) {
	page := dataflow.Page{Name: name}
	known := map[string]struct{}{}
	for _, controller := range controllers {
		d, err := controller.Describe(scheme)
		if err != nil {
			return dataflow.Page{}, err
		}
		page.Controllers = append(page.Controllers, d)
		kinds, err := controller.resolved(scheme)
		if err != nil {
			return dataflow.Page{}, err
		}
		owner := kinds.Kinds[0]
		if owner.Representation == declaration.Virtual || clientscheme.Scheme.Recognizes(owner.GroupVersionKind) { // a group, or built in
			continue
		}
		crd := owner.Kind + " (" + owner.GroupVersion().String() + ")"
		if _, twice := known[crd]; !twice {
			known[crd] = struct{}{}
			page.CRDs = append(page.CRDs, crd)
		}
	}
	return page, nil
}
