// Command maas is the operator of models as a service.
package main

import (
	"flag"
	"fmt"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/operator"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/examples/maas/models"
	product "github.com/reconcilekit/reconcilekit/examples/maas/operator"
)

//go:generate env -u CI -u KUBEBUILDER_ASSETS UPDATE_GOLDEN=1 go test -count=1 -run=^TestGenerated$ .

func main() { maas().Main() }

func maas() operator.Operator {
	var config models.Config
	var maintain time.Duration
	var catalog product.Catalog
	return operator.Operator{
		Name:        "maas",
		LeaseName:   "maas-controller.maas.opendatahub.io",
		AddToScheme: []func(*runtime.Scheme) error{models.AddToScheme},
		Defaults:    map[string]string{"metrics-bind-address": ":8080"},
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&config.Gateway.Name, "gateway-name", "maas-default-gateway", "the gateway that serves all models")
			f.StringVar(&config.Gateway.Namespace, "gateway-namespace", "openshift-ingress", "namespace of that gateway")
			f.StringVar(&config.AppNamespace, "maas-api-namespace", "opendatahub", "namespace of the platform's API")
			f.StringVar(&config.SubscriptionNamespace, "maas-subscription-namespace", "models-as-a-service",
				"the namespace of subscriptions, auth policies and tenants; others are ignored")
			f.Int64Var(&config.MetadataTTL, "metadata-cache-ttl", 60, "seconds for which gateways cache keys and subscriptions")
			f.Int64Var(&config.AuthzTTL, "authz-cache-ttl", 60, "seconds for which gateways cache decisions, at most metadata-cache-ttl")
			f.DurationVar(
				&maintain, "subscription-namespace-maintain-interval", 30*time.Second,
				"interval to check the namespace of subscriptions",
			)
			f.StringVar(&catalog.Address, "api-bind-address", "0", "address of the API that lists subscriptions and models, such as :8443; 0 disables it")
			f.StringVar(&catalog.InternalAddress, "api-internal-bind-address", "0",
				"address of the API for gateways and of the API's metrics, such as :8444; 0 disables it")
			f.StringVar(&catalog.Certificates, "api-cert-dir", "", "the folder with tls.crt and tls.key of the API; empty for plain HTTP")
			f.StringVar(&catalog.Authorities, "api-gateway-ca", "", "a file with the authorities of the gateway; empty for those of the system")
			f.DurationVar(
				&catalog.Timeout, "api-access-check-timeout", 15*time.Second,
				"timeout for models to check the access of a caller",
			)
		},
		Configure: func(o *operator.Operator, _ *runtime.Scheme) error {
			if config.MetadataTTL < 0 || config.AuthzTTL < 0 {
				return fmt.Errorf("metadata-cache-ttl %d and authz-cache-ttl %d must not be negative", config.MetadataTTL, config.AuthzTTL)
			}
			return product.Configure(o, config, maintain, catalog)
		},
	}
}
