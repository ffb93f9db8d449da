package reconciletest_test

import (
	"context"
	"strings"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/internal/widget"
)

// optional lists the optional kinds of an app.
func optional(t trait) []schema.GroupKind {
	if !strings.HasPrefix(string(t), "optional child") {
		return nil
	}
	return []schema.GroupKind{{Group: policyv1.GroupName, Kind: "PodDisruptionBudget"}}
}

// optionalChild creates a child of an optional kind, in a correct or faulty way.
func optionalChild(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	const lacking = "not served"
	if !w.DeletionTimestamp.IsZero() || a.known[lacking] {
		return ctrl.Result{}, nil
	}
	err := a.budget(ctx, w)
	switch {
	case !apimeta.IsNoMatchError(err):
	case a.trait == "optional child":
		err = nil
	case a.trait == "optional child tried only once":
		a.known[lacking], err = true, nil
	case a.trait == "optional child retried without backoff":
		return ctrl.Result{RequeueAfter: time.Millisecond}, nil
	}
	return ctrl.Result{}, err
}

// budget creates a PodDisruptionBudget if the kind is installed.
func (a *app) budget(ctx context.Context, w *widget.Widget) error {
	one := intstr.FromInt32(1)
	labels := map[string]string{"app": w.Name}
	if _, err := a.RESTMapper().RESTMapping(schema.GroupKind{Group: policyv1.GroupName, Kind: "PodDisruptionBudget"}); err != nil {
		return err
	}
	child := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name}}
	return a.store(ctx, w, child, func() {
		child.Spec.MaxUnavailable, child.Spec.Selector = &one, &metav1.LabelSelector{MatchLabels: labels}
	})
}
