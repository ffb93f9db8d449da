// Command grafana is an operator of Grafana: of servers, and of folders and dashboards in them.
package main

import (
	"net/http"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/operator"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	v1alpha1 "github.com/reconcilekit/reconcilekit/examples/grafana/api/v1alpha1"
	v1beta1 "github.com/reconcilekit/reconcilekit/examples/grafana/api/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/grafana/dashboard"
	"github.com/reconcilekit/reconcilekit/examples/grafana/folder"
	"github.com/reconcilekit/reconcilekit/examples/grafana/instance"
)

//go:generate go tool controller-gen object crd:maxDescLen=0 paths=./api/... output:crd:dir=config/crd
//go:generate env -u CI -u KUBEBUILDER_ASSETS UPDATE_GOLDEN=1 go test -count=1 -run=^TestGenerated$ .

// timeout is the maximum duration of one call to Grafana.
const timeout = 5 * time.Second

func main() { grafanas(&http.Client{Timeout: timeout}).Main() }

// grafanas declares the operator, which calls Grafana with the client.
func grafanas(calls *http.Client) operator.Operator {
	return operator.Operator{
		Name:        "grafana-operator",
		LeaseName:   "f75f3bba.integreatly.org",
		AddToScheme: []func(*runtime.Scheme) error{v1beta1.AddToScheme, v1alpha1.AddToScheme},
		Controllers: []*controller.Controller{instance.Controller(), folder.Controller(calls), dashboard.Controller(calls)},
		Webhooks: func(mgr manager.Manager) (map[string]http.Handler, error) {
			handlers := instance.Handlers(mgr.GetScheme())
			handlers["/convert"] = conversion.NewWebhookHandler(mgr.GetScheme(), conversion.NewRegistry())
			return handlers, nil
		},
		Describe: func(page *dataflow.Page) error {
			page.Webhooks = instance.Webhooks()
			page.Conversions = []string{"grafanas.grafana.integreatly.org"}
			return nil
		},
	}
}
