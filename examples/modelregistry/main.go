// Command modelregistry is the operator of ModelRegistry and of the model catalog.
package main

import (
	"errors"
	"net/http"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/operator"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/openshift"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/catalog"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/registry"
	hooks "github.com/reconcilekit/reconcilekit/examples/modelregistry/webhook"
)

//go:generate env -u CI -u KUBEBUILDER_ASSETS UPDATE_GOLDEN=1 go test -count=1 -run=^TestGenerated$ .

func main() { registries().Main() }

func registries() operator.Operator {
	return operator.Operator{
		Name:        "model-registry-operator",
		LeaseName:   "85f368d1.opendatahub.io",
		AddToScheme: []func(*runtime.Scheme) error{v1beta1.AddToScheme, v1alpha1.AddToScheme, openshift.AddToScheme},
		Configure:   configure,
		Webhooks: func(mgr manager.Manager) (map[string]http.Handler, error) {
			return hooks.Handlers(mgr.GetScheme(), mgr.GetAPIReader(), settings()), nil
		},
		Describe: func(page *dataflow.Page) error {
			page.Webhooks = hooks.Describe()
			page.Services = []dataflow.Service{ // the names of the product
				{Name: "model-registry-operator-controller-manager-metrics-service", Port: 8443, PortName: "metrics"},
				{Name: hooks.Service, Port: 443, PortName: "webhooks"},
			}
			page.Conversions = []string{"modelregistries.modelregistry.opendatahub.io"}
			page.ExtraRules = append(registry.GrantedRules(), catalog.GrantedRules()...)
			return nil
		},
	}
}

func configure(o *operator.Operator, scheme *runtime.Scheme) error {
	registries, err := registry.New(scheme, settings())
	models, catalogErr := catalog.New(scheme, catalogSettings())
	o.Controllers = []*controller.Controller{registries, models}
	return errors.Join(err, catalogErr)
}
