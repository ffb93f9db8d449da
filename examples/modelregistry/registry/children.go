package registry

import (
	"embed"

	"github.com/reconcilekit/reconcilekit/manifests"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/children"
	"github.com/reconcilekit/reconcilekit/reconcile/secrets"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

//go:embed templates/*.yaml
var templates embed.FS

// newChildren is every child of a registry. One that the operator made before the SDK did carries no mark of it, so objects
// without a controller are adopted.
func newChildren(scheme *runtime.Scheme) (*children.Set[facts], error) {
	parsed, err := manifests.Parse(templates, scheme, "templates/*.yaml")
	adopt := []apply.ChildOption{apply.AdoptUncontrolled}
	workload := []apply.ChildOption{apply.AdoptUncontrolled, apply.Recreate()}
	return &children.Set[facts]{Manifests: parsed, Children: []children.Child[facts]{
		{Template: "serviceaccount.yaml", Options: adopt},
		{Template: "service.yaml", Options: adopt},
		{Template: "deployment.yaml", Options: workload},
		{Template: "role.yaml", Options: adopt},
		{Template: "rolebinding.yaml", When: onOpenShift, Options: workload},
		{Template: "group.yaml", When: func(f facts) bool { return f.OpenShift && f.Users }, Options: adopt},
		{Template: "route-http.yaml", When: func(f facts) bool { return f.Spec.Rest.ServiceRoute == v1beta1.RouteEnabled }, Options: adopt},
		{Template: "proxy-config.yaml", When: proxied, Options: adopt},
		{Template: "clusterrolebinding.yaml", When: proxied, Options: workload},
		{Template: "route-https.yaml", When: facts.published, Options: adopt},
		{Template: "networkpolicy-https.yaml", When: func(f facts) bool { return f.OpenShift && f.published() }, Options: adopt},
		{Template: "postgres-secret.yaml", When: func(f facts) bool { return f.Generated && f.OwnCredentials }, Retained: true, Dynamic: seedCredentials},
		{Template: "postgres-storage.yaml", When: generated, Off: children.Keep, Options: adopt},
		{Template: "postgres-deployment.yaml", When: generated, Options: workload},
		{Template: "postgres-service.yaml", When: generated, Options: adopt},
		{Template: "postgres-networkpolicy.yaml", When: generated, Options: adopt},
	}}, err
}

func onOpenShift(f facts) bool { return f.OpenShift }
func proxied(f facts) bool     { return f.Proxy != nil }
func generated(f facts) bool   { return f.Generated }

// seedCredentials never overwrites a value that exists.
func seedCredentials(f facts) []apply.ChildOption {
	return []apply.ChildOption{secrets.Rules(f.Credentials)}
}
