// Command trustyai is the operator of TrustyAIService, GuardrailsOrchestrator, NemoGuardrails, LMEvalJob and EvalHub.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/operator"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/kueue"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/evalhub"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/jobmgr"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/lmes"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/nemo"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/orchestrator"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/tas"
)

//go:generate env -u CI -u KUBEBUILDER_ASSETS UPDATE_GOLDEN=1 go test -count=1 -run=^TestGenerated$ .

func main() { trustyai().Main() }

// installation contains the settings of the process.
type installation struct {
	// settings is the ConfigMap with the settings of the operator.
	settings types.NamespacedName
	// managed means that jobs wait in queues.
	managed bool
	// tenants decides which hubs the namespaces of tenants admit.
	tenants evalhub.Tenants
}

// service declares the controllers of a service of the product.
type service struct {
	declare func(scheme *runtime.Scheme, in installation) ([]*controller.Controller, error)
	// grants are permissions that the service grants to its programs, with the roles that it binds.
	grants []rbacv1.PolicyRule
	// converts is the CRD of the service, if it has two versions.
	converts string
}

// proxied are the permissions of the proxies: to review tokens and access.
var proxied = []rbacv1.PolicyRule{
	{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"}},
	{APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews"}, Verbs: []string{"create"}},
}

// services contains the services by their names in the flag.
var services = map[string]service{
	"TAS": {converts: "trustyaiservices.trustyai.opendatahub.io", grants: proxied, declare: func(s *runtime.Scheme, in installation) (
		[]*controller.Controller, error,
	) {
		c, err := tas.New(s, in.settings.Namespace)
		return []*controller.Controller{c}, err
	}},
	"NEMO_GUARDRAILS": {
		grants:  proxied,
		declare: declared(func(in installation) *controller.Controller { return nemo.New(in.settings.Namespace) }),
	},
	"LMES": {
		grants:  lmes.Grants(),
		declare: declared(func(in installation) *controller.Controller { return lmes.New(in.settings, in.managed).Controller }),
	},
	"JOB_MGR": {declare: declared(func(installation) *controller.Controller { return jobmgr.New() })},
	"GORCH": {
		grants:  proxied,
		declare: declared(func(in installation) *controller.Controller { return orchestrator.New(in.settings.Namespace) }),
	},
	"EVALHUB": {converts: "evalhubs.trustyai.opendatahub.io", grants: evalhub.Grants(), declare: declared(
		func(in installation) *controller.Controller { return evalhub.New(in.settings, in.tenants).Controller },
		func(in installation) *controller.Controller { return evalhub.NewTenants(in.tenants) },
	)},
}

func declared(all ...func(installation) *controller.Controller) func(*runtime.Scheme, installation) ([]*controller.Controller, error) {
	return func(_ *runtime.Scheme, in installation) (out []*controller.Controller, _ error) {
		for _, declare := range all {
			out = append(out, declare(in))
		}
		return out, nil
	}
}

func trustyai() operator.Operator {
	var enabled, configMap string
	var tenants evalhub.Tenants
	return operator.Operator{
		Name:      "trustyai-service-operator",
		LeaseName: "b7e9931f.trustyai.opendatahub.io",
		AddToScheme: []func(*runtime.Scheme) error{
			v1.AddToScheme, v1alpha1.AddToScheme, foreign.AddToScheme, kueue.AddToScheme, gatewayv1.Install,
		},
		Defaults: map[string]string{"metrics-bind-address": ":8080"},
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&enabled, "enable-services", "TAS,GORCH,NEMO_GUARDRAILS,LMES,EVALHUB", "services to run, separated by commas")
			f.StringVar(
				&configMap, "configmap", images.ConfigMap,
				"`name` of the ConfigMap with the settings of LMES and EVALHUB, in the namespace of the operator",
			)
			f.BoolVar(&tenants.All, "evalhub-admit-all", false, "every namespace with the tenant label admits every hub of the cluster, "+
				"as the product does; "+
				"by default it admits the hubs that its annotation evalhub.trustyai.opendatahub.io/hubs lists, once they are ready")
		},
		Configure: func(o *operator.Operator, scheme *runtime.Scheme) error {
			return enable(o, scheme, enabled, configMap, tenants)
		},
		Describe: func(page *dataflow.Page) error {
			for name := range strings.SplitSeq(enabled, ",") {
				page.ExtraRules = append(page.ExtraRules, services[name].grants...)
				if crd := services[name].converts; crd != "" {
					page.Conversions = append(page.Conversions, crd)
				}
			}
			page.Services = []dataflow.Service{ // of the metrics with the product's name
				{Name: "trustyai-service-operator-controller-manager-metrics-service", Port: 8443, PortName: "metrics"},
			}
			if len(page.Conversions) > 0 {
				page.Services = append(page.Services, dataflow.Service{Name: page.Name + "-webhooks", Port: 443, PortName: "webhooks"})
			}
			return nil
		},
	}
}

// namespace returns the namespace of the operator, from the environment or from its service account.
func namespace() string {
	own, _ := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	return cmp.Or(os.Getenv("APPLICATIONS_NAMESPACE"), strings.TrimSpace(string(own)), "system")
}

// enable adds the controllers of the services, and the webhook server if one of them has two versions.
func enable(o *operator.Operator, scheme *runtime.Scheme, enabled, configMap string, tenants evalhub.Tenants) error {
	names := strings.Split(enabled, ",")
	in := installation{types.NamespacedName{Namespace: namespace(), Name: configMap}, slices.Contains(names, "JOB_MGR"), tenants}
	for i, name := range names {
		service, known := services[name]
		if !known || slices.Contains(names[:i], name) {
			return fmt.Errorf(
				"flag -enable-services: %q is unknown or given twice: want some of TAS, GORCH, NEMO_GUARDRAILS, LMES, JOB_MGR and EVALHUB",
				name,
			)
		}
		controllers, err := service.declare(scheme, in)
		if err != nil {
			return fmt.Errorf("service %s: %w", name, err)
		}
		o.Controllers = append(o.Controllers, controllers...)
		if service.converts != "" {
			o.Webhooks = func(manager.Manager) (map[string]http.Handler, error) {
				return map[string]http.Handler{"/convert": conversion.NewWebhookHandler(scheme, conversion.NewRegistry())}, nil
			}
		}
	}
	for _, c := range o.Controllers {
		c.StoreClaimsIn(in.settings.Namespace)
	}
	return nil
}
