package subscription

import (
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/children"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
)

var chat = types.NamespacedName{Namespace: "llm", Name: "chat"}

// limited is a subscription to the model chat.
func limited(limit int64, window string) *maasv1alpha1.MaaSSubscription {
	return &maasv1alpha1.MaaSSubscription{
		ObjectMeta: metav1.ObjectMeta{Namespace: "subs", Name: "gold", UID: "1"},
		Spec: &maasv1alpha1.MaaSSubscriptionSpec{ModelRefs: []maasv1alpha1.ModelSubscriptionRef{{
			ModelRef:        maasv1alpha1.ModelRef{Namespace: chat.Namespace, Name: chat.Name},
			TokenRateLimits: []maasv1alpha1.TokenRateLimit{{Limit: limit, Window: window}},
		}}},
	}
}

func TestValid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit  int64
		window string
		valid  bool
	}{
		{1, "1s", true},
		{1_000_000_000, "8784h", true},
		{0, "1h", false},
		{1_000_000_001, "1h", false},
		{1, "8785h", false},
		{1, "0s", false},
		{1, "-1h", false},
		{1, "soon", false},
		{1, "", false},
	} {
		if err := valid(limited(c.limit, c.window), chat); (err == nil) != c.valid {
			t.Errorf("%d in %q: %v", c.limit, c.window, err)
		}
	}
}

// TestPolicyLabels: clients find the policy of a model by these labels.
func TestPolicyLabels(t *testing.T) {
	t.Parallel()
	set, err := backend.Children(files, children.Child[*limits]{Template: "policy.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	l := &limits{}
	l.Key, l.Ref.Value, l.Route.Value = chat, &maasv1alpha1.MaaSModelRef{}, &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Name: "chat", UID: "2"}}
	l.Valid = []*maasv1alpha1.MaaSSubscription{limited(1, "1h")}
	plan, err := Limits{set}.PlanResources(t.Context(), reconcile.ReconcileContext[*controller.Group]{}, l)
	if err != nil || len(plan.Children) != 1 {
		t.Fatalf("got %d children, %v, want the policy", len(plan.Children), err)
	}
	got := plan.Children[0].Object.GetLabels()
	for label, want := range map[string]string{backend.ModelLabel: "chat", backend.ModelNamespaceLabel: "llm", backend.ManagedBy: backend.Manager} {
		if got[label] != want {
			t.Errorf("label %s is %q, want %q", label, got[label], want)
		}
	}
}

func TestPeers(t *testing.T) {
	t.Parallel()
	itself, other, leaving := limited(1, "1h"), limited(1, "1h"), limited(1, "1h")
	other.Name, other.UID = "silver", "2"
	leaving.UID, leaving.DeletionTimestamp = "3", &metav1.Time{Time: time.Unix(1, 0)}
	for name, c := range map[string]struct {
		peers []maasv1alpha1.MaaSSubscription
		want  metav1.ConditionStatus
	}{
		"itself":  {[]maasv1alpha1.MaaSSubscription{*itself}, metav1.ConditionFalse},
		"another": {[]maasv1alpha1.MaaSSubscription{*itself, *other}, metav1.ConditionTrue},
		"leaving": {[]maasv1alpha1.MaaSSubscription{*itself, *leaving}, metav1.ConditionFalse},
	} {
		cm := conditions.NewManager(nil, 1, time.Unix(1, 0))
		w := &world{subscription: itself}
		w.peers.Value = &maasv1alpha1.MaaSSubscriptionList{Items: c.peers}
		w.announcePeers(cm)
		if got, _ := cm.Get(priorityDuplicate); got.Status != c.want {
			t.Errorf("%s: got %s, want %s", name, got.Status, c.want)
		}
	}
}
