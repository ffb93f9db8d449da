package authpolicy

import (
	"strings"
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

// TestSafe checks that unsafe names are rejected: a name that terminates a string of the policy could grant access to
// all users.
func TestSafe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		subjects maasv1alpha1.SubjectSpec
		safe     bool
	}{
		"well":  {maasv1alpha1.SubjectSpec{Users: []string{"ann"}, Groups: []maasv1alpha1.GroupReference{{Name: "all"}}}, true},
		"user":  {maasv1alpha1.SubjectSpec{Users: []string{`ann" || "`}}, false},
		"group": {maasv1alpha1.SubjectSpec{Groups: []maasv1alpha1.GroupReference{{Name: `all\`}}}, false},
	} {
		policy := &maasv1alpha1.MaaSAuthPolicy{Spec: &maasv1alpha1.MaaSAuthPolicySpec{Subjects: c.subjects}}
		if err := safe(policy); (err == nil) != c.safe {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestProvider(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given *maasv1alpha1.TenantExternalOIDC
		used  bool
	}{
		"none":           {nil, false},
		"whole":          {&maasv1alpha1.TenantExternalOIDC{IssuerURL: "https://id", ClientID: "maas"}, true},
		"without issuer": {&maasv1alpha1.TenantExternalOIDC{ClientID: "maas"}, false},
		"without client": {&maasv1alpha1.TenantExternalOIDC{IssuerURL: "https://id"}, false},
	} {
		a := &access{}
		a.tenant.Value = &maasv1alpha1.Tenant{Spec: &maasv1alpha1.TenantSpec{ExternalOIDC: c.given}}
		if got := a.OIDC(); (got != nil) != c.used {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// policyOf renders the AuthPolicy of a model.
func policyOf(t *testing.T, config models.Config, valid *maasv1alpha1.MaaSAuthPolicy) map[string]any {
	t.Helper()
	set, err := models.Children[*access](files)
	if err != nil {
		t.Fatal(err)
	}
	a := &access{Config: config}
	a.Key, a.Route.Value = models.Key("llm", "chat"), &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Name: "chat"}}
	a.Valid = []*maasv1alpha1.MaaSAuthPolicy{valid}
	a.tenant.Error = apierrors.NewNotFound(schema.GroupResource{Resource: "tenants"}, maasv1alpha1.TenantName)
	a.authentication.Error = apierrors.NewNotFound(schema.GroupResource{Resource: "authentications"}, "cluster")
	policy, err := set.Manifests.Render("policy.yaml", a)
	if err != nil {
		t.Fatal(err)
	}
	return policy.(*unstructured.Unstructured).Object
}

// TestMembership checks that the users and groups in the policy are lists even if none is configured.
func TestMembership(t *testing.T) {
	t.Parallel()
	valid := &maasv1alpha1.MaaSAuthPolicy{Spec: &maasv1alpha1.MaaSAuthPolicySpec{Subjects: maasv1alpha1.SubjectSpec{Users: []string{"ann"}}}}
	rego, _, err := unstructured.NestedString(
		policyOf(t, models.Config{}, valid), "spec", "rules", "authorization", "require-group-membership", "opa", "rego",
	)
	if err != nil || !strings.Contains(rego, "allowed_groups := []\n") || !strings.Contains(rego, `allowed_users := ["ann"]`+"\n") {
		t.Errorf("%v, got %s", err, rego)
	}
}

// TestRemembered checks that an authorization result is cached no longer than the key metadata it was derived from.
func TestRemembered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ metadata, authz, want int64 }{{60, 10, 10}, {10, 60, 10}, {10, -1, 0}} {
		valid := &maasv1alpha1.MaaSAuthPolicy{Spec: &maasv1alpha1.MaaSAuthPolicySpec{}}
		policy := policyOf(t, models.Config{MetadataTTL: c.metadata, AuthzTTL: c.authz}, valid)
		got, _, err := unstructured.NestedInt64(policy, "spec", "rules", "authorization", "auth-valid", "cache", "ttl")
		if err != nil || got != c.want {
			t.Errorf("%d and %d: got %d, %v, want %d", c.metadata, c.authz, got, err, c.want)
		}
	}
}

// TestMissingModel checks that an auth policy fails if none of its models exists.
func TestMissingModel(t *testing.T) {
	t.Parallel()
	part := models.Part{}
	part.Ref.Error = apierrors.NewNotFound(schema.GroupResource{Resource: "maasmodelrefs"}, "chat")
	parts := models.Parts{Member: &maasv1alpha1.MaaSAuthPolicy{Spec: &maasv1alpha1.MaaSAuthPolicySpec{}}, List: []models.Part{part}}
	status := maasv1alpha1.MaaSAuthPolicyStatus{}
	Reconciler{}.DecorateStatus(
		&status, conditions.NewManager(nil, 1, time.Unix(1, 0)), reconcile.StatusContext[*maasv1alpha1.MaaSAuthPolicy]{}, parts,
	)
	if status.Phase != maasv1alpha1.PhaseFailed || len(status.AuthPolicies) > 0 {
		t.Errorf("got %s and %v, want Failed and no policies", status.Phase, status.AuthPolicies)
	}
}
