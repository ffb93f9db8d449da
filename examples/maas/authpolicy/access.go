package authpolicy

import (
	"cmp"
	"context"
	"embed"
	"slices"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/children"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

// AccessName is the name of the controller of [NewAccess].
const AccessName = "maas-model-access"

const defaultAudience = "https://kubernetes.default.svc"

//go:embed templates/*.yaml
var files embed.FS

// Access reconciles the access to one model: it plans one AuthPolicy from all auth policies for the model.
type Access struct {
	models.Config
	children *children.Set[*access]
}

// NewAccess declares the controller of [Access]. Its groups are models. It returns an error if a template is invalid.
func NewAccess(config models.Config) (*controller.Controller, error) {
	set, err := models.Children(files, children.Child[*access]{Template: "policy.yaml", When: (*access).Wanted})
	return controller.NewGroup(AccessName, Access{config, set}).
		Members(&maasv1alpha1.MaaSAuthPolicy{}, modelsOf).
		Owns(models.Kind(models.AuthPolicy), controller.Optional).
		Reads(&maasv1alpha1.MaaSModelRef{}).
		Reads(&gatewayv1.HTTPRoute{}).
		Reads(&maasv1alpha1.Tenant{}).
		Reads(models.Kind(models.Authentication), controller.Optional).
		Options(models.Options("")).Build(), err
}

// modelsOf lists the models of an auth policy without duplicates.
func modelsOf(object client.Object) []types.NamespacedName {
	if policy, ok := object.(*maasv1alpha1.MaaSAuthPolicy); ok && policy.Spec != nil {
		return models.Keys(policy.Spec.ModelRefs)
	}
	return nil
}

// access is the observed access to a model, and the input of its template.
type access struct {
	models.Shared[*maasv1alpha1.MaaSAuthPolicy]
	models.Config
	tenant         reconcile.FetchResult[*maasv1alpha1.Tenant]
	authentication reconcile.FetchResult[*unstructured.Unstructured]
}

// FetchRemoteState reads the model, its route, its auth policies, and the authentication of the cluster.
func (r Access) FetchRemoteState(ctx context.Context, reader reconcile.Reader, rc reconcile.ReconcileContext[*controller.Group]) *access {
	return &access{
		Config:         r.Config,
		Shared:         models.FetchShared(ctx, reader, rc.Object, &maasv1alpha1.MaaSAuthPolicyList{}, safe),
		tenant:         reconcile.Fetch(ctx, reader, models.Key(r.SubscriptionNamespace, maasv1alpha1.TenantName), &maasv1alpha1.Tenant{}),
		authentication: reconcile.Fetch(ctx, reader, models.Key("", "cluster"), models.Kind(models.Authentication)),
	}
}

// safe rejects names that would end a string of the policy.
func safe(p *maasv1alpha1.MaaSAuthPolicy) error {
	s := subjectsOf(p)
	return models.ErrUnsafe(append(s.Groups, s.Users...)...)
}

// subjects are the groups and users with access, sorted. Empty lists are not nil.
type subjects struct{ Groups, Users []string }

func subjectsOf(policies ...*maasv1alpha1.MaaSAuthPolicy) subjects {
	s := subjects{[]string{}, []string{}}
	for _, p := range policies {
		for _, group := range p.Spec.Subjects.Groups {
			s.Groups = append(s.Groups, group.Name)
		}
		s.Users = append(s.Users, p.Spec.Subjects.Users...)
	}
	slices.Sort(s.Groups)
	slices.Sort(s.Users)
	return subjects{slices.Compact(s.Groups), slices.Compact(s.Users)}
}

// PlanResources plans the policy, and nothing if no auth policy is valid.
func (r Access) PlanResources(_ context.Context, _ reconcile.ReconcileContext[*controller.Group], a *access) (reconcile.PlanResult, error) {
	return r.children.Plan(a)
}

// Subjects returns all groups and users with access.
func (a *access) Subjects() subjects { return subjectsOf(a.Valid...) }

// Audience returns the audience of the tokens that the cluster issues.
func (a *access) Audience() string {
	return cmp.Or(models.Audience(a.authentication), defaultAudience)
}

// DecisionTTL returns how long gateways cache authorization decisions, in seconds: at most as long as the data they depend on.
func (a *access) DecisionTTL() int64 { return max(0, min(a.AuthzTTL, a.MetadataTTL)) }

// OIDC returns the identity provider of the tenant, or nil.
func (a *access) OIDC() *maasv1alpha1.TenantExternalOIDC {
	if a.tenant.HasError() || a.tenant.Value.Spec == nil {
		return nil
	}
	oidc := a.tenant.Value.Spec.ExternalOIDC
	if oidc == nil || oidc.IssuerURL == "" || oidc.ClientID == "" {
		return nil
	}
	return oidc
}
