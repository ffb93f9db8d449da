package authpolicy

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// AccessName is the name of the controller of [NewAccess].
const AccessName = "maas-model-access"

const (
	policiesAnnotation = "maas.opendatahub.io/auth-policies"
	defaultAudience    = "https://kubernetes.default.svc"
)

// Access reconciles the access to one model: all auth policies on it make one
// AuthPolicy.
type Access struct{ backend.Config }

// NewAccess declares the controller of the access. Its groups are models.
func NewAccess(config backend.Config) *controller.Builder[*controller.Group, *access, *access] {
	policy, authentication := backend.Kind(backend.AuthPolicy), backend.Kind(backend.Authentication)
	return controller.NewGroup(AccessName, Access{config}).
		Members(&maasv1alpha1.MaaSAuthPolicy{}, modelsOf).
		Owns(policy).Optional(policy).
		Reads(&maasv1alpha1.MaaSModelRef{}, &gatewayv1.HTTPRoute{}, &maasv1alpha1.Tenant{}, authentication).
		Optional(authentication).
		Options(backend.Options(""))
}

// modelsOf lists the models of an auth policy, each once.
func modelsOf(object client.Object) []types.NamespacedName {
	policy, ok := object.(*maasv1alpha1.MaaSAuthPolicy)
	if !ok || policy.Spec == nil {
		return nil
	}
	var keys []types.NamespacedName
	for _, ref := range policy.Spec.ModelRefs {
		if key := backend.Key(ref.Namespace, ref.Name); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// access is what is known of the access to a model.
type access struct {
	model          backend.Model
	policies       reconcile.FetchResult[*maasv1alpha1.MaaSAuthPolicyList]
	tenant         reconcile.FetchResult[*maasv1alpha1.Tenant]
	authentication reconcile.FetchResult[*unstructured.Unstructured]
}

// FetchRemoteState reads the model, its route, its auth policies, and how users
// are authenticated.
func (r Access) FetchRemoteState(ctx context.Context, reader reconcile.Reader, rc reconcile.ReconcileContext[*controller.Group]) *access {
	return &access{
		model:          backend.FetchModel(ctx, reader, client.ObjectKeyFromObject(rc.Object)),
		policies:       reconcile.FetchList(ctx, reader, &maasv1alpha1.MaaSAuthPolicyList{}, controller.MembersOf(rc.Object)),
		tenant:         reconcile.Fetch(ctx, reader, backend.Key(r.SubscriptionNamespace, maasv1alpha1.TenantName), &maasv1alpha1.Tenant{}),
		authentication: reconcile.Fetch(ctx, reader, backend.Key("", "cluster"), backend.Kind(backend.Authentication)),
	}
}

// ComposeState leaves the access as it is.
func (Access) ComposeState(_ context.Context, _ reconcile.ReconcileContext[*controller.Group], a *access) *access {
	return a
}

// each visits the auth policies that count, with what is wrong with them.
func (a *access) each(visit func(p *maasv1alpha1.MaaSAuthPolicy, refused error)) {
	for i := range a.policies.Value.Items {
		if p := &a.policies.Value.Items[i]; p.DeletionTimestamp.IsZero() {
			visit(p, backend.ErrUnsafe(append(groupsOf(p), p.Spec.Subjects.Users...)...))
		}
	}
}

func groupsOf(p *maasv1alpha1.MaaSAuthPolicy) []string {
	groups := make([]string, 0, len(p.Spec.Subjects.Groups))
	for _, group := range p.Spec.Subjects.Groups {
		groups = append(groups, group.Name)
	}
	return groups
}

// GetMembers lists them.
func (a *access) GetMembers() []controller.Member {
	var members []controller.Member
	a.each(func(p *maasv1alpha1.MaaSAuthPolicy, refused error) {
		members = append(members, controller.MemberOf(p, refused))
	})
	return members
}

// GetComponentHealth keeps the policy as it is while the model has no route but
// auth policies: it is needed again when the route comes back.
func (a *access) GetComponentHealth(context.Context) []health.Component {
	if a.model.Gone() != "" || a.model.Ref.Value == nil || a.model.Served() || len(a.GetMembers()) == 0 {
		return nil
	}
	return []health.Component{a.model.Waiting()}
}

// PlanResources plans the policy; none when no auth policy is valid.
func (r Access) PlanResources(_ context.Context, _ reconcile.ReconcileContext[*controller.Group], a *access) reconcile.PlanResult {
	var plan reconcile.PlanResult
	if !a.model.Served() {
		return plan
	}
	var groups, users, names []string
	a.each(func(p *maasv1alpha1.MaaSAuthPolicy, refused error) {
		if refused == nil {
			groups, users = append(groups, groupsOf(p)...), append(users, p.Spec.Subjects.Users...)
			names = append(names, p.Name)
		}
	})
	if len(names) == 0 {
		return plan
	}
	slices.Sort(names)
	rules := rules{Config: r.Config, model: a.model.Key, groups: sorted(groups), users: sorted(users), audience: cmp.Or(backend.Audience(a.authentication), defaultAudience), oidc: a.oidc()}
	policy := backend.New(backend.AuthPolicy, policyKey(a.model.Key), backend.PolicyLabels(a.model.Key, "maas-auth-policy", "auth-policy"),
		map[string]any{"targetRef": backend.Target(a.model.Route.Value.Name), "rules": rules.content()})
	policy.SetAnnotations(map[string]string{policiesAnnotation: strings.Join(names, ",")})
	plan.Apply(policy)
	return plan
}

func policyKey(model types.NamespacedName) types.NamespacedName {
	return backend.Key(model.Namespace, "maas-auth-"+model.Name)
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
