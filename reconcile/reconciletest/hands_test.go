package reconciletest_test

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/internal/widget"
)

// foreignWrites implements the traits about concurrent writes of other clients or for other owners.
func foreignWrites() map[trait]work {
	return map[trait]work{
		"finalizer patched":                  finalizerPatched(false),
		"finalizer patched with its version": finalizerPatched(true),
		"entire owner written after a conflict": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			if w.Annotations["test/seen"] == w.Spec.Message {
				return ctrl.Result{}, nil
			}
			metav1.SetMetaDataAnnotation(&w.ObjectMeta, "test/seen", w.Spec.Message)
			return ctrl.Result{}, alive(w, retry.RetryOnConflict(retry.DefaultRetry, func() error {
				latest := &widget.Widget{}
				if err := a.Get(ctx, client.ObjectKeyFromObject(w), latest); err != nil {
					return err
				}
				w.ResourceVersion = latest.ResourceVersion
				return a.Update(ctx, w)
			}))
		},
		"Job recreated while the old one is being deleted": jobOfTheSpec,
		"annotation without an owner reference":            markWithoutReference(false),

		"annotation without an owner reference, of an existing owner": markWithoutReference(true),
		"shared object with entries of all owners": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			var all widget.WidgetList
			if err := a.List(ctx, &all, client.InNamespace(w.Namespace)); err != nil {
				return ctrl.Result{}, err
			}
			entries, owners := map[string]string{}, []metav1.OwnerReference(nil)
			for _, one := range all.Items {
				if one.DeletionTimestamp.IsZero() {
					entries[one.Name] = one.Spec.Message
					owners = append(owners, metav1.OwnerReference{
						APIVersion: widget.GroupVersion.String(), Kind: "Widget", Name: one.Name, UID: one.UID,
					})
				}
			}
			if len(entries) == 0 {
				return ctrl.Result{}, nil
			}
			shared := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "first"}} // its events enqueue all owners
			_, err := controllerutil.CreateOrUpdate(ctx, a.Client, shared, func() error {
				shared.Data, shared.OwnerReferences = entries, owners
				return nil
			})
			return ctrl.Result{}, err
		},
	}
}

// neighbours returns all owners in the namespace of one.
func (a *app) neighbours(ctx context.Context, o client.Object) []ctrl.Request {
	var all widget.WidgetList
	if a.List(ctx, &all, client.InNamespace(o.GetNamespace())) != nil {
		return nil
	}
	out := make([]ctrl.Request, len(all.Items))
	for i := range all.Items {
		out[i] = ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&all.Items[i])}
	}
	return out
}

// finalizerPatched adds a finalizer with a merge patch, which writes the entire list.
func finalizerPatched(versioned bool) work {
	return func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
		old := w.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a deep copy has the type of its original
		change := client.MergeFrom(old)
		if versioned {
			change = client.MergeFromWithOptions(old, client.MergeFromWithOptimisticLock{})
		}
		if w.DeletionTimestamp.IsZero() == controllerutil.ContainsFinalizer(w, finalizer) {
			return ctrl.Result{}, nil
		}
		if w.DeletionTimestamp.IsZero() {
			controllerutil.AddFinalizer(w, finalizer)
		} else {
			controllerutil.RemoveFinalizer(w, finalizer)
		}
		return ctrl.Result{}, client.IgnoreNotFound(a.Patch(ctx, w, change))
	}
}

// jobOfTheSpec deletes the Job of an old spec and immediately creates the new one. While the old Job is being deleted, the create fails
// without an error.
func jobOfTheSpec(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
	const done = "test/done"
	if !w.DeletionTimestamp.IsZero() || w.Annotations[done] == w.Spec.Message {
		return ctrl.Result{}, nil
	}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name + "-once"}}
	err := a.Get(ctx, client.ObjectKeyFromObject(job), job)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	if err == nil && job.Annotations[done] != w.Spec.Message && job.DeletionTimestamp.IsZero() {
		background := client.PropagationPolicy(metav1.DeletePropagationBackground)
		if err := a.Delete(ctx, job, background, client.Preconditions{UID: &job.UID}); client.IgnoreNotFound(err) != nil {
			return ctrl.Result{}, err
		}
	}
	next := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name + "-once", Annotations: map[string]string{done: w.Spec.Message}}}
	next.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "example.com/job"}}}
	if err := controllerutil.SetControllerReference(w, next, a.Scheme()); err != nil {
		return ctrl.Result{}, err
	}
	if job.Annotations[done] != w.Spec.Message {
		if err := a.Create(ctx, next); err != nil && !apierrors.IsAlreadyExists(err) {
			return ctrl.Result{}, err
		}
	}
	metav1.SetMetaDataAnnotation(&w.ObjectMeta, done, w.Spec.Message)
	return ctrl.Result{}, a.Update(ctx, w)
}
