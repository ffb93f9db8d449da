// Command maas is the operator of models as a service.
package main

import (
	"flag"
	"fmt"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/operator"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
	product "github.com/reconcilekit/reconcilekit/examples/maas/operator"
)

//go:generate env -u CI -u KUBEBUILDER_ASSETS UPDATE_GOLDEN=1 go test -count=1 -run=^TestGenerated$ .

func main() { maas().Main() }

func maas() operator.Operator {
	var config backend.Config
	var maintain time.Duration
	return operator.Operator{
		Name:        "maas",
		LeaseName:   "maas-controller.maas.opendatahub.io",
		AddToScheme: []func(*runtime.Scheme) error{backend.AddToScheme},
		Defaults:    map[string]string{"metrics-bind-address": ":8080"},
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&config.Gateway.Name, "gateway-name", "maas-default-gateway", "the gateway that serves all models")
			f.StringVar(&config.Gateway.Namespace, "gateway-namespace", "openshift-ingress", "namespace of that gateway")
			f.StringVar(&config.AppNamespace, "maas-api-namespace", "opendatahub", "where the API of the platform runs")
			f.StringVar(&config.SubscriptionNamespace, "maas-subscription-namespace", "models-as-a-service",
				"the namespace whose subscriptions, auth policies and tenants count")
			f.Int64Var(&config.MetadataTTL, "metadata-cache-ttl", 60, "how many seconds gateways remember keys and subscriptions")
			f.Int64Var(&config.AuthzTTL, "authz-cache-ttl", 60, "how many seconds gateways remember decisions; at most metadata-cache-ttl counts")
			f.DurationVar(&maintain, "subscription-namespace-maintain-interval", 30*time.Second, "how often to look after the namespace of subscriptions")
		},
		Configure: func(o *operator.Operator, _ *runtime.Scheme) error {
			if config.MetadataTTL < 0 || config.AuthzTTL < 0 {
				return fmt.Errorf("metadata-cache-ttl %d and authz-cache-ttl %d must not be negative", config.MetadataTTL, config.AuthzTTL)
			}
			return product.Configure(o, config, maintain)
		},
	}
}
