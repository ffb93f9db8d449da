package transport_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

// TestLasting checks how often a fault is injected.
func TestLasting(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		injection transport.Injection
		want      string // which of five creates with two alternating names are rejected (x)
		lasts     bool
		refused   transport.Fault
	}{
		"one request":     {transport.Injection{Call: "create configmaps default/a#2"}, "..x..", false, ""},
		"two in a row":    {transport.Injection{Call: "create configmaps default/a", Lasting: 2}, "x.x..", false, transport.FaultError},
		"always":          {transport.Injection{Call: "create configmaps default/a", Lasting: transport.Forever}, "x.x.x", true, ""},
		"the first write": {transport.Injection{Writes: true}, "x....", false, ""},
		"all creates":     {transport.Injection{Creates: true, Lasting: transport.Forever}, "xxxxx", true, ""},
		"another one":     {transport.Injection{Call: "create configmaps default/c#1"}, ".....", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wire, w := newWire(t)
			c.injection.Fault = transport.FaultError
			wire.Arm(&c.injection)
			var got strings.Builder
			for n := range 5 {
				obj := configMap([]string{"a", "b"}[n%2], "")
				switch err := wire.Client.Create(t.Context(), obj); {
				case apierrors.IsInternalError(err):
					got.WriteByte('x')
				case err != nil:
					t.Fatal(err)
				default:
					got.WriteByte('.')
					if err := w.Client.Delete(t.Context(), obj); err != nil {
						t.Fatal(err)
					}
				}
			}
			by, refused := wire.Refused()
			if got.String() != c.want || wire.Refusing() != c.lasts || by != c.refused || refused != (c.refused != "") {
				t.Errorf("%s, lasts: %t, refused by %q; want %s, %t, %q", got.String(), wire.Refusing(), by, c.want, c.lasts, c.refused)
			}
			wire.Arm()
			if wire.Refusing() || wire.Client.Create(t.Context(), configMap("a", "")) != nil {
				t.Error("a fault continues after it was lifted")
			}
		})
	}
}

// TestRefusals checks that each rejection is the response of a real API server.
func TestRefusals(t *testing.T) {
	t.Parallel()
	is := map[transport.Fault]func(error) bool{
		transport.FaultError: apierrors.IsInternalError, transport.FaultConflict: apierrors.IsConflict, "403": apierrors.IsForbidden,
		"403 quota": apierrors.IsForbidden, "404": apierrors.IsNotFound, "422": apierrors.IsInvalid, "429": apierrors.IsTooManyRequests,
		"500 webhook": apierrors.IsInternalError,
		transport.FaultTerminating: func(err error) bool {
			return apierrors.IsForbidden(err) && apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
		},
	}
	kind, resource := schema.GroupKind{Kind: "ConfigMap"}, schema.GroupResource{Resource: "configmaps"}
	all := transport.Refusals()
	for fault, refuse := range all {
		if err := refuse(kind, resource, "a"); is[fault] == nil || !is[fault](err) {
			t.Errorf("%s: %v", fault, err)
		}
	}
	if len(all) != len(is) {
		t.Errorf("%d refusals, want %d", len(all), len(is))
	}
	if wait, asked := apierrors.SuggestsClientDelay(all["429"](kind, resource, "a")); !asked || wait != 1 {
		t.Errorf("a 429 response asks to wait %d s", wait)
	}
	for _, fault := range transport.Lasting() {
		if all[fault] == nil || transport.Final(fault) != (fault == "422" || fault == transport.FaultTerminating) {
			t.Errorf("%s: final: %t", fault, transport.Final(fault))
		}
	}
}

// TestRights checks that a request without permission is rejected, and that the error contains the missing rule.
func TestRights(t *testing.T) {
	t.Parallel()
	wire, _ := newWire(t, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create"}})
	if err := wire.Client.Create(t.Context(), configMap("a", "")); err != nil {
		t.Error(err)
	}
	err := wire.Client.Update(t.Context(), configMap("a", "blue"))
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `add the verb "update" on "configmaps"`) {
		t.Errorf("got %v", err)
	}
}

// TestNotServed checks that each request for a kind that is not served returns a not-found error.
func TestNotServed(t *testing.T) {
	t.Parallel()
	wire, w := newWire(t)
	if err := w.Withdraw(t.Context(), schema.GroupKind{Kind: "ConfigMap"}); err != nil {
		t.Fatal(err)
	}
	if err := wire.Client.Create(t.Context(), configMap("a", "")); err == nil {
		t.Error("an object of a kind that is not installed was created")
	}
	w.Restore()
	if err := wire.Client.Create(t.Context(), configMap("a", "")); err != nil {
		t.Error(err)
	}
}
