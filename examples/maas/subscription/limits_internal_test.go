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
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/examples/internal/expect"
	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

var chat = types.NamespacedName{Namespace: "llm", Name: "chat"}

// limited returns a subscription to the model chat with one limit.
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

// TestPolicy compares a model's policy with the product's: it has the limits of each subscription, and its controller is
// the route.
func TestPolicy(t *testing.T) {
	t.Parallel()
	set, err := models.Children(files, children.Child[*limits]{Template: "policy.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	silver := limited(1, "1m")
	silver.Name = "silver"
	l := &limits{}
	l.Key, l.Ref.Value = chat, &maasv1alpha1.MaaSModelRef{}
	l.Route.Value = &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Name: "route", UID: "2"}}
	l.Valid = []*maasv1alpha1.MaaSSubscription{silver, limited(1000, "24h")}
	plan, err := Limits{set}.PlanResources(t.Context(), reconcile.ReconcileContext[*controller.Group]{}, l)
	if err != nil {
		t.Fatal(err)
	}
	const want = `
apiVersion: kuadrant.io/v1alpha1
kind: TokenRateLimitPolicy
metadata:
  namespace: llm
  name: maas-trlp-chat
  labels:
    maas.opendatahub.io/model: chat
    maas.opendatahub.io/model-namespace: llm
    app.kubernetes.io/managed-by: maas-controller
    app.kubernetes.io/part-of: maas-subscription
    app.kubernetes.io/component: token-rate-limit-policy
  annotations: {maas.opendatahub.io/subscriptions: "gold,silver"}
  ownerReferences:
  - {apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, name: route, uid: "2", controller: true, blockOwnerDeletion: true}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: route}
  limits:
    subs-gold-chat-tokens:
      rates: [{limit: 1000, window: 24h}]
      when: [{predicate: 'auth.identity.selected_subscription_key == "subs/gold@llm/chat" && !request.path.endsWith("/v1/models")'}]
      counters: [{expression: auth.identity.userid}]
    subs-silver-chat-tokens:
      rates: [{limit: 1, window: 1m}]
      when: [{predicate: 'auth.identity.selected_subscription_key == "subs/silver@llm/chat" && !request.path.endsWith("/v1/models")'}]
      counters: [{expression: auth.identity.userid}]`
	if diff := expect.Children(t, clientscheme.Scheme, want, plan); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
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
		obs := &observation{subscription: itself}
		obs.peers.Value = &maasv1alpha1.MaaSSubscriptionList{Items: c.peers}
		obs.announcePeers(cm)
		if got, _ := cm.Get(priorityDuplicate); got.Status != c.want {
			t.Errorf("%s: got %s, want %s", name, got.Status, c.want)
		}
	}
}
