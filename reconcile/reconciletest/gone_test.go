package reconciletest_test

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/internal/widget"
)

// exists reports whether the owner exists in the API server and is not being deleted.
func exists(ctx context.Context, live client.Reader, owner *widget.Widget) (bool, error) {
	latest := &widget.Widget{}
	if err := live.Get(ctx, client.ObjectKeyFromObject(owner), latest); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return latest.UID == owner.UID && latest.DeletionTimestamp.IsZero(), nil
}

// markWithoutReference creates a ConfigMap without an owner reference, and deletes it with a finalizer. The cache of a process that has just started
// may contain a deleted owner. Without a live read of the owner, the ConfigMap is created again and never deleted.
func markWithoutReference(asks bool) work {
	return func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
		mark, of := &corev1.ConfigMap{}, string(w.UID)
		key := client.ObjectKey{Namespace: w.Namespace, Name: w.Name + "-mark"}
		found := a.Get(ctx, key, mark)
		if client.IgnoreNotFound(found) != nil {
			return ctrl.Result{}, found
		}
		held := controllerutil.ContainsFinalizer(w, finalizer)
		result, err := a.cleanup(ctx, w, func() error {
			if err := a.live.Get(ctx, key, mark); err != nil || mark.Labels["test/of"] != of {
				return client.IgnoreNotFound(err)
			}
			return client.IgnoreNotFound(a.Delete(ctx, mark, client.Preconditions{UID: &mark.UID}))
		})
		if err != nil || !held || !w.DeletionTimestamp.IsZero() || !apierrors.IsNotFound(found) {
			return result, err
		}
		if asks {
			if there, err := exists(ctx, a.live, w); err != nil || !there {
				return ctrl.Result{}, err
			}
		}
		mark.ObjectMeta = metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{"test/of": of}}
		return ctrl.Result{}, client.IgnoreAlreadyExists(a.Create(ctx, mark))
	}
}
