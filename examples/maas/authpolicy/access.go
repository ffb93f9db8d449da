package authpolicy

import (
	"cmp"
	"context"
	"slices"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
)

// AccessName is the name of the controller of [NewAccess].
const AccessName = "maas-model-access"

const defaultAudience = "https://kubernetes.default.svc"

// Access reconciles the access to one model: all auth policies on it make one
// AuthPolicy.
type Access struct {
	backend.Config
}

// NewAccess declares the controller of the access. Its groups are models.
func NewAccess(config backend.Config) *controller.Builder[*controller.Group, *access, *access] {
	policy, authentication := backend.Kind(backend.AuthPolicy), backend.Kind(backend.Authentication)
	return controller.NewGroup(AccessName, Access{Config: config}).
		Members(&maasv1alpha1.MaaSAuthPolicy{}, modelsOf).
		Owns(policy, controller.Optional).
		Reads(&maasv1alpha1.MaaSModelRef{}).
		Reads(&gatewayv1.HTTPRoute{}).
		Reads(&maasv1alpha1.Tenant{}).
		Reads(authentication, controller.Optional).
		Options(backend.Options(""))
}

// modelsOf lists the models of an auth policy, each once.
func modelsOf(object client.Object) []types.NamespacedName {
	if policy, ok := object.(*maasv1alpha1.MaaSAuthPolicy); ok && policy.Spec != nil {
		return backend.Keys(policy.Spec.ModelRefs)
	}
	return nil
}

// access is what is known of the access to a model.
type access struct {
	backend.Shared[*maasv1alpha1.MaaSAuthPolicy]
	tenant         reconcile.FetchResult[*maasv1alpha1.Tenant]
	authentication reconcile.FetchResult[*unstructured.Unstructured]
}

// FetchRemoteState reads the model, its route, its auth policies, and how users
// are authenticated.
func (r Access) FetchRemoteState(ctx context.Context, reader reconcile.Reader, rc reconcile.ReconcileContext[*controller.Group]) *access {
	return &access{
		Shared:         backend.FetchShared(ctx, reader, rc.Object, &maasv1alpha1.MaaSAuthPolicyList{}, safe),
		tenant:         reconcile.Fetch(ctx, reader, backend.Key(r.SubscriptionNamespace, maasv1alpha1.TenantName), &maasv1alpha1.Tenant{}),
		authentication: reconcile.Fetch(ctx, reader, backend.Key("", "cluster"), backend.Kind(backend.Authentication)),
	}
}

// safe refuses names that would end a string of the policy.
func safe(p *maasv1alpha1.MaaSAuthPolicy) error {
	return backend.ErrUnsafe(append(groupsOf(p), p.Spec.Subjects.Users...)...)
}

func groupsOf(p *maasv1alpha1.MaaSAuthPolicy) []string {
	groups := make([]string, 0, len(p.Spec.Subjects.Groups))
	for _, group := range p.Spec.Subjects.Groups {
		groups = append(groups, group.Name)
	}
	return groups
}

// PlanResources plans the policy; none when no auth policy is valid.
func (r Access) PlanResources(_ context.Context, _ reconcile.ReconcileContext[*controller.Group], a *access) (reconcile.PlanResult, error) {
	var plan reconcile.PlanResult
	if !a.Served() || len(a.Valid) == 0 {
		return plan, nil
	}
	rules := rules{Config: r.Config, model: a.Key, audience: cmp.Or(backend.Audience(a.authentication), defaultAudience), oidc: a.oidc()}
	var names []string
	for _, p := range a.Valid {
		rules.groups, rules.users = append(rules.groups, groupsOf(p)...), append(rules.users, p.Spec.Subjects.Users...)
		names = append(names, p.Name)
	}
	rules.groups, rules.users = sorted(rules.groups), sorted(rules.users)
	plan.Apply(backend.Access.For(a.Model, names, map[string]any{"rules": rules.content()}))
	return plan, nil
}

func sorted(values []string) []string {
	slices.Sort(values)
	return slices.Compact(values)
}

// oidc is the identity provider of the tenant, nil when there is none.
func (a *access) oidc() *maasv1alpha1.TenantExternalOIDC {
	if a.tenant.HasError() || a.tenant.Value.Spec == nil {
		return nil
	}
	oidc := a.tenant.Value.Spec.ExternalOIDC
	if oidc == nil || oidc.IssuerURL == "" || oidc.ClientID == "" {
		return nil
	}
	return oidc
}
