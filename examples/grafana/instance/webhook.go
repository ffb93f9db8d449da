package instance

import (
	"context"
	"net/http"
	"strconv"

	"github.com/reconcilekit/reconcilekit/reconcile/admission"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1beta1 "github.com/reconcilekit/reconcilekit/examples/grafana/api/v1beta1"
)

// validate returns the errors of an object. The second argument is the stored object, nil on create.
func validate(_ context.Context, g, _ *v1beta1.Grafana) (problems field.ErrorList, _ error) {
	spec := field.NewPath("spec")
	if port := g.Port(); !isPort(port) {
		problems = append(problems, field.Invalid(spec.Child("config", "server", "http_port"), port, "want a number from 1 to 65535"))
		return problems, nil
	}
	check := func(name string, user *v1beta1.Override, merge func(*v1beta1.Grafana) error) {
		if err := merge(g); err != nil {
			problems = append(problems, field.Invalid(spec.Child(name), string(user.Spec.Raw), err.Error()))
		}
	}
	check("deployment", g.Spec.Deployment, only(deployment))
	check("service", g.Spec.Service, only(service))
	check("persistentVolumeClaim", g.Spec.PersistentVolumeClaim, only(volumeClaim))
	check("ingress", g.Spec.Ingress, only(ingress))
	if e := g.Spec.External; e != nil && e.APIKey == nil && (e.AdminUser == nil || e.AdminPassword == nil) {
		problems = append(problems, field.Required(spec.Child("external"), "want apiKey, or adminUser and adminPassword"))
	}
	return problems, nil
}

// only returns the error of a function that returns a child.
func only[C any](child func(*v1beta1.Grafana) (C, error)) func(*v1beta1.Grafana) error {
	return func(g *v1beta1.Grafana) error {
		_, err := child(g)
		return err
	}
}

func isPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return err == nil && port > 0
}

// Handlers returns the webhook handlers by path.
func Handlers(scheme *runtime.Scheme) map[string]http.Handler {
	kinds := admission.Kinds[*v1beta1.Grafana]{Hub: func() *v1beta1.Grafana { return &v1beta1.Grafana{} }, Scheme: scheme}
	return map[string]http.Handler{
		"/validate-grafana": admission.Validating(kinds, validate),
	}
}

// Webhooks returns the webhooks that the installation registers. The API server converts objects of other versions before the call.
func Webhooks() []dataflow.Webhook {
	rules := []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{"grafana.integreatly.org"}, APIVersions: []string{"v1beta1"}, Resources: []string{"grafanas"},
		},
	}}
	return []dataflow.Webhook{
		{Name: "validate.grafanas.grafana.integreatly.org", Type: "validating", Path: "/validate-grafana", FailurePolicy: "Fail", Rules: rules},
	}
}
