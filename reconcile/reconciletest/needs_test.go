package reconciletest_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

// shrinking is a shop whose owner is scaled down once the last ConfigMap exists.
func shrinking() reconciletest.Scenario {
	last := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web-2"}}
	s := reconciletest.Scenario{System: shopSystem(), Gone: []client.Object{last}}
	s.System.StandIns = append(s.System.StandIns, func(ctx context.Context, c client.Client) error {
		owner := &widget.Widget{}
		key := client.ObjectKey{Namespace: "default", Name: "web"}
		err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: last.Name}, last.DeepCopy())
		if err == nil {
			err = c.Get(ctx, key, owner)
		}
		if err != nil || owner.Spec.Count < 3 {
			return client.IgnoreNotFound(err)
		}
		owner.Spec.Count = 2
		return c.Update(ctx, owner)
	})
	return s
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	made := func() reconciletest.Scenario {
		return reconciletest.Scenario{System: shopSystem(), Expect: []client.Object{
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web-2"}, Data: map[string]string{"message": "hello"}},
		}}
	}
	plain := func() reconciletest.Scenario {
		return reconciletest.Scenario{System: plainSystem(noBug), Expect: []client.Object{
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web-0"}},
		}}
	}
	another := func() reconciletest.Scenario {
		s := made()
		s.Expect[0].(*corev1.ConfigMap).Data["message"] = "another"
		return s
	}
	reconciletest.Needs(t, reconciletest.Without{Apply: true}, made)
	reconciletest.Needs(t, reconciletest.Without{Apply: true}, plain)
	reconciletest.Needs(t, reconciletest.Without{Prune: true}, shrinking)
	for _, idle := range []reconciletest.Without{{Prune: true}, {Tracker: true}} { // nothing is deleted, and children refer to their owner
		fails(t, "the scenario passes without", func(t testing.TB) { reconciletest.Needs(t, idle, made) })
	}
	fails(t, "with the complete SDK: ConfigMap default/web-2 (-want +got)", func(t testing.TB) {
		reconciletest.Needs(t, reconciletest.Without{Apply: true}, another)
	})
}
