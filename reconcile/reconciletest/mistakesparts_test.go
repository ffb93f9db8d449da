package reconciletest_test

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/internal/widget"
)

// alive is an error that is ignored while the owner is being deleted.
func alive(w *widget.Widget, err error) error {
	if !w.DeletionTimestamp.IsZero() {
		return nil
	}
	return err
}

func jobsComplete(ctx context.Context, c client.Client) error {
	var jobs batchv1.JobList
	if err := c.List(ctx, &jobs); err != nil {
		return err
	}
	for i := range jobs.Items {
		job := &jobs.Items[i]
		if job.Status.Succeeded > 0 {
			continue
		}
		job.Status.Succeeded = 1
		job.Status.Conditions = []batchv1.JobCondition{{
			Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: job.CreationTimestamp,
		}}
		if err := c.Status().Update(ctx, job); err != nil {
			return err
		}
	}
	return nil
}

// job creates a Job whose TTL is ten minutes.
func (a *app) job(ctx context.Context, w *widget.Widget, name string) error {
	ttl := int32(600)
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name},
		Spec: batchv1.JobSpec{TTLSecondsAfterFinished: &ttl, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "example.com/job"}},
		}}},
	}
	if a.trait == "Job recreated after the clock is set back" {
		job.Spec.TTLSecondsAfterFinished = nil
	}
	if !w.DeletionTimestamp.IsZero() {
		return nil
	}
	if err := controllerutil.SetControllerReference(w, job, a.Scheme()); err != nil {
		return err
	}
	if err := a.Create(ctx, job); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// cleanup keeps the finalizer of the owner until the cleanup is done.
func (a *app) cleanup(ctx context.Context, w *widget.Widget, do func() error) (ctrl.Result, error) {
	if w.DeletionTimestamp.IsZero() {
		if controllerutil.AddFinalizer(w, finalizer) {
			return ctrl.Result{}, a.Update(ctx, w)
		}
		return ctrl.Result{}, nil
	}
	if !controllerutil.ContainsFinalizer(w, finalizer) {
		return ctrl.Result{}, nil
	}
	if err := do(); err != nil {
		return ctrl.Result{}, err
	}
	controllerutil.RemoveFinalizer(w, finalizer)
	return ctrl.Result{}, client.IgnoreNotFound(a.Update(ctx, w))
}

// generated creates a child with a generated name, unless a child exists.
func (a *app) generated(ctx context.Context, w *widget.Widget, reader client.Reader) error {
	if !w.DeletionTimestamp.IsZero() {
		return nil
	}
	label := client.MatchingLabels{"test/generated": w.Name}
	var found corev1.ConfigMapList
	if err := reader.List(ctx, &found, client.InNamespace(w.Namespace), label); err != nil || len(found.Items) > 0 {
		return err
	}
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, GenerateName: w.Name + "-", Labels: label}}
	if err := controllerutil.SetControllerReference(w, child, a.Scheme()); err != nil {
		return err
	}
	return a.Create(ctx, child)
}

// going requeues while the settings are being deleted.
func (a *app) going(ctx context.Context, w *widget.Widget, after time.Duration) (ctrl.Result, error) {
	config := &corev1.ConfigMap{}
	err := a.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: w.Name + "-settings"}, config)
	if err == nil && !config.DeletionTimestamp.IsZero() {
		return ctrl.Result{RequeueAfter: after}, nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

// refer creates an object with a reference to the owner in any namespace.
func (a *app) refer(ctx context.Context, w *widget.Widget, obj client.Object) error {
	if !w.DeletionTimestamp.IsZero() {
		return nil
	}
	obj.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(w, widget.GroupVersion.WithKind("Widget"))})
	err := a.Get(ctx, client.ObjectKeyFromObject(obj), obj.DeepCopyObject().(client.Object))
	if apierrors.IsNotFound(err) {
		if err = a.Create(ctx, obj); err == nil {
			err = fmt.Errorf("made %s: look again", obj.GetName())
		}
	}
	return err
}

// drawn copies the random password.
func (a *app) drawn(ctx context.Context, w *widget.Widget, use func(password string) error) (ctrl.Result, error) {
	secret := &corev1.Secret{}
	err := a.Get(ctx, client.ObjectKeyFromObject(w), secret)
	if err != nil || !w.DeletionTimestamp.IsZero() || secret.Data["password"] == nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return ctrl.Result{}, use(string(secret.Data["password"]))
}

// careful counts starts that did not finish, and stops working after two of them.
func (a *app) careful(ctx context.Context, w *widget.Widget) (ctrl.Result, error) {
	const starts = "test/starts"
	done := w.Status.ObservedGeneration == w.Generation
	switch before := w.Annotations[starts]; {
	case !w.DeletionTimestamp.IsZero() || done && before == "":
		return ctrl.Result{}, nil
	case before == "xx":
		return ctrl.Result{RequeueAfter: time.Hour}, nil
	case done:
		delete(w.Annotations, starts)
		return ctrl.Result{}, a.Update(ctx, w)
	case a.known[starts]:
		return ctrl.Result{}, nil
	default:
		metav1.SetMetaDataAnnotation(&w.ObjectMeta, starts, before+"x")
		a.known[starts] = true
		return ctrl.Result{}, a.Update(ctx, w)
	}
}

// expire deletes the settings a minute after the creation of the owner.
func (a *app) expire(ctx context.Context, owner *widget.Widget) (time.Duration, error) {
	left := time.Minute - a.clock.Now().Sub(owner.CreationTimestamp.Time)
	if left > 0 {
		if a.trait == "expiry" {
			return left, nil
		}
		return 0, nil
	}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace, Name: owner.Name + "-expired"}}
	return 0, a.store(ctx, owner, config, func() {})
}
