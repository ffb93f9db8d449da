// Command trustyai is the operator of TrustyAIService, GuardrailsOrchestrator, NemoGuardrails and LMEvalJob.
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
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/lmes"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/nemo"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/orchestrator"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/tas"
)

//go:generate env -u CI -u KUBEBUILDER_ASSETS UPDATE_GOLDEN=1 go test -count=1 -run=^TestGenerated$ .

func main() { trustyai().Main() }

// service declares the controllers of a service of the product.
type service func(scheme *runtime.Scheme, namespace string) (controller.Declared, error)

// services by their names in the flag.
var services = map[string]service{
	"TAS":             func(s *runtime.Scheme, ns string) (controller.Declared, error) { return tas.New(s, ns) },
	"NEMO_GUARDRAILS": func(_ *runtime.Scheme, ns string) (controller.Declared, error) { return nemo.New(ns), nil },
	"LMES":            func(_ *runtime.Scheme, ns string) (controller.Declared, error) { return lmes.New(ns), nil },
	"GORCH":           func(_ *runtime.Scheme, ns string) (controller.Declared, error) { return orchestrator.New(ns), nil },
}

func trustyai() operator.Operator {
	var enabled string
	return operator.Operator{
		Name:        "trustyai-service-operator",
		LeaseName:   "b7e9931f.trustyai.opendatahub.io",
		AddToScheme: []func(*runtime.Scheme) error{v1.AddToScheme, v1alpha1.AddToScheme, foreign.AddToScheme, gatewayv1.Install},
		Defaults:    map[string]string{"metrics-bind-address": ":8080"},
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&enabled, "enable-services", "TAS,GORCH,NEMO_GUARDRAILS,LMES", "which services run, separated by commas")
		},
		Configure: func(o *operator.Operator, scheme *runtime.Scheme) error { return enable(o, scheme, enabled) },
		Describe: func(page *dataflow.Page) error {
			page.ExtraRules = []rbacv1.PolicyRule{ // what it grants to the proxies, by the roles that it binds
				{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"}},
				{APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews"}, Verbs: []string{"create"}},
			}
			return nil
		},
	}
}

// enable adds the controllers of the services, and the webhook server where one of them has two versions.
func enable(o *operator.Operator, scheme *runtime.Scheme, enabled string) error {
	names := strings.Split(enabled, ",")
	for i, name := range names {
		declare, known := services[name]
		if !known || slices.Contains(names[:i], name) {
			return fmt.Errorf("flag -enable-services: %q is unknown or given twice: want some of TAS, GORCH, NEMO_GUARDRAILS and LMES", name)
		}
		c, err := declare(scheme, cmp.Or(os.Getenv("APPLICATIONS_NAMESPACE"), "system"))
		if err != nil {
			return fmt.Errorf("service %s: %w", name, err)
		}
		o.Controllers = append(o.Controllers, c)
	}
	if slices.Contains(names, "TAS") {
		o.Webhooks = func(manager.Manager) (map[string]http.Handler, error) {
			return map[string]http.Handler{"/convert": conversion.NewWebhookHandler(scheme, conversion.NewRegistry())}, nil
		}
	}
	return nil
}
