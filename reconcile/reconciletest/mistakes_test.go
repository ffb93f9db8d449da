package reconciletest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/internal/widget"
)

// work is additional code of an app. A non-zero result or an error ends the reconciliation.
type work func(ctx context.Context, a *app, owner *widget.Widget) (ctrl.Result, error)

// extras maps traits to their additional code.
func extras() map[trait]work {
	return map[trait]work{
		"object claimed by the first owner": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			first := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "first"}}
			_, err := controllerutil.CreateOrUpdate(ctx, a.Client, first, func() error {
				err := a.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: first.Data["is"]}, &widget.Widget{})
				if first.Data["is"] == "" || apierrors.IsNotFound(err) {
					first.Data, err = map[string]string{"is": w.Name}, nil
				}
				return err
			})
			return ctrl.Result{}, alive(w, err)
		},
		"owner of the pass stored in the reconciler": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			a.current = w.Name
			shared := &corev1.ConfigMap{}
			if err := a.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: w.Spec.Ref}, shared); err != nil {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			title := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name + "-title"}}
			return ctrl.Result{}, a.store(ctx, w, title, func() { title.Data = map[string]string{"of": a.current} })
		},
		"Job recreated after the clock is set back": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			job := &batchv1.Job{}
			err := a.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: w.Name + "-job"}, job)
			if err == nil && job.CreationTimestamp.After(a.clock.Now()) {
				return ctrl.Result{}, client.IgnoreNotFound(a.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground)))
			}
			if apierrors.IsNotFound(err) {
				err = a.job(ctx, w, w.Name+"-job")
			}
			return ctrl.Result{}, alive(w, err)
		},
		"takes over objects of other controllers": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name + "-0"}}
			_, err := controllerutil.CreateOrUpdate(ctx, a.Client, config, func() error {
				config.Data = map[string]string{"message": w.Spec.Message}
				if config.UID == "" {
					return controllerutil.SetControllerReference(w, config, a.Scheme())
				}
				return nil
			})
			return ctrl.Result{}, alive(w, err)
		},
		"writes all finalizers": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			wanted := []string{finalizer}
			if !w.DeletionTimestamp.IsZero() {
				wanted = nil
			}
			if len(w.Finalizers) == len(wanted) {
				return ctrl.Result{}, nil
			}
			w.Finalizers = wanted
			return ctrl.Result{}, client.IgnoreNotFound(a.Update(ctx, w))
		},
		"writes the children's finalizers": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			config := &corev1.ConfigMap{}
			err := a.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: w.Name + "-settings"}, config)
			if err != nil || len(config.Finalizers) == 0 {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			config.Finalizers = nil
			return ctrl.Result{}, client.IgnoreNotFound(a.Update(ctx, config))
		},
		"event with a number": func(_ context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.failures[w.Name]++
			a.events.Eventf(w, corev1.EventTypeNormal, "Reconciled", "pass %d", a.failures[w.Name])
			return ctrl.Result{}, nil
		},
		"current time in the status": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			now := time.Now().UTC().Format(time.RFC3339)
			if w.Status.State == now {
				return ctrl.Result{}, nil
			}
			w.Status.State = now
			return ctrl.Result{}, alive(w, a.Status().Update(ctx, w))
		},
		"time of the change in the status": func(_ context.Context, _ *app, w *widget.Widget) (ctrl.Result, error) {
			if w.Status.ObservedGeneration == w.Generation {
				return ctrl.Result{}, nil
			}
			w.Status.State = time.Now().UTC().Format(time.RFC3339)
			return ctrl.Result{}, nil
		},
		"current time in a child": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name + "-time"}}
			return ctrl.Result{}, alive(w, a.store(ctx, w, config, func() {
				config.Data = map[string]string{"at": time.Now().UTC().Format(time.RFC3339)}
			}))
		},
		"Job recreated after its TTL": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return ctrl.Result{}, alive(w, a.job(ctx, w, w.Name+"-job"))
		},
		"Job named by the date": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return ctrl.Result{}, alive(w, a.job(ctx, w, w.Name+a.clock.Now().Format("-20060102")))
		},
		"Job recorded in the status": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			if apimeta.IsStatusConditionTrue(w.Status.Conditions, "Ran") {
				return ctrl.Result{}, nil
			}
			if err := a.job(ctx, w, w.Name+"-job"); err != nil {
				return ctrl.Result{}, alive(w, err)
			}
			job := &batchv1.Job{}
			if err := a.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: w.Name + "-job"}, job); err != nil {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			if job.Status.Succeeded > 0 {
				apimeta.SetStatusCondition(&w.Status.Conditions, metav1.Condition{Type: "Ran", Status: metav1.ConditionTrue, Reason: "Done"})
				return ctrl.Result{}, alive(w, a.Status().Update(ctx, w))
			}
			return ctrl.Result{}, nil
		},
		"creates children during deletion": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return a.cleanup(ctx, w, func() error { return a.settings(ctx, w) })
		},
		"foreground deletion recreates a child": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			if result, err := a.cleanup(ctx, w, func() error { return nil }); err != nil {
				return result, err
			}
			return ctrl.Result{}, a.password(ctx, w)
		},
		"foreground deletion, without a finalizer": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return ctrl.Result{}, a.password(ctx, w)
		},
		"creates an object in a terminating namespace": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return a.cleanup(ctx, w, func() error {
				config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name + "-farewell"}}
				return a.store(ctx, w, config, func() {})
			})
		},
		"finalizer waits for a child in foreground deletion": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return a.cleanup(ctx, w, func() error {
				config := &corev1.ConfigMap{}
				return a.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: w.Name + "-settings"}, config)
			})
		},
		"finalizer with a cleanup": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return a.cleanup(ctx, w, func() error {
				config := &corev1.ConfigMap{}
				if err := a.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: w.Name + "-settings"}, config); err != nil || !metav1.IsControlledBy(config, w) {
					return client.IgnoreNotFound(err)
				}
				return client.IgnoreNotFound(a.Delete(ctx, config, client.Preconditions{UID: &config.UID}))
			})
		},
		"error with a password": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return a.drawn(ctx, w, func(password string) error {
				if err := a.settings(ctx, w); err != nil {
					return fmt.Errorf("connect with %s: %w", password, err)
				}
				return nil
			})
		},
		"generated name": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return ctrl.Result{}, a.generated(ctx, w, a.Client)
		},
		"generated name, listed live": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return ctrl.Result{}, a.generated(ctx, w, a.live)
		},
		"recreates children that are not ready": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			d := &appsv1.Deployment{}
			err := a.Get(ctx, client.ObjectKeyFromObject(w), d)
			if err == nil && d.Status.ObservedGeneration == d.Generation && d.Status.UnavailableReplicas > 0 {
				return ctrl.Result{}, a.Delete(ctx, d, client.Preconditions{UID: &d.UID})
			}
			return ctrl.Result{}, client.IgnoreNotFound(err)
		},
		"applies in every pass": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			if !w.DeletionTimestamp.IsZero() {
				return ctrl.Result{}, nil
			}
			child := &corev1.ConfigMap{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
				ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name + "-applied"}, Data: map[string]string{"message": w.Spec.Message},
			}
			if err := controllerutil.SetControllerReference(w, child, a.Scheme()); err != nil {
				return ctrl.Result{}, err
			}
			return ctrl.Result{}, a.Patch(ctx, child, client.Apply, client.FieldOwner("app"), client.ForceOwnership) //nolint:staticcheck // as many operators do
		},
		"requeues while a child is being deleted": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return a.going(ctx, w, time.Millisecond)
		},
		"waits while a child is being deleted": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return a.going(ctx, w, 20*time.Second)
		},
		"owner in another namespace": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: elsewhere, Name: w.Name}}
			return ctrl.Result{}, alive(w, a.refer(ctx, w, config))
		},
		"cluster-scoped child of a namespaced owner": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: w.Name}}
			return ctrl.Result{}, alive(w, a.refer(ctx, w, role))
		},
		"panics without its reference": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			var all corev1.ConfigMapList
			if err := a.List(ctx, &all, client.InNamespace(w.Namespace)); err != nil {
				return ctrl.Result{}, err
			}
			var found *corev1.ConfigMap
			for i := range all.Items {
				if all.Items[i].Name == w.Spec.Ref {
					found = &all.Items[i]
				}
			}
			_ = found.Data["level"]
			return ctrl.Result{}, nil
		},
		"panics without a child": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			d := &appsv1.Deployment{}
			err := a.Get(ctx, client.ObjectKeyFromObject(w), d)
			if w.Status.ObservedGeneration > 0 && apierrors.IsNotFound(err) {
				_ = d.Spec.Template.Spec.Containers[0]
			}
			return ctrl.Result{}, client.IgnoreNotFound(err)
		},
		"fails although everything is ready": func(_ context.Context, _ *app, w *widget.Widget) (ctrl.Result, error) {
			if w.Status.ObservedGeneration > 0 && w.DeletionTimestamp.IsZero() {
				return ctrl.Result{}, errors.New("no backup is configured")
			}
			return ctrl.Result{}, nil
		},
		"requeues without end": func(_ context.Context, _ *app, w *widget.Widget) (ctrl.Result, error) {
			return ctrl.Result{Requeue: w.Status.ObservedGeneration == w.Generation}, nil
		},
		"fails until everything is ready": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			d := &appsv1.Deployment{}
			err := a.Get(ctx, client.ObjectKeyFromObject(w), d)
			notReady := !apimeta.IsStatusConditionTrue(w.Status.Conditions, "Ready")
			if err == nil && notReady && w.DeletionTimestamp.IsZero() && d.Status.ReadyReplicas < *d.Spec.Replicas && d.Status.ObservedGeneration == d.Generation {
				return ctrl.Result{}, errors.New("not ready yet")
			}
			return ctrl.Result{}, client.IgnoreNotFound(err)
		},
		"password in the log": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return a.drawn(ctx, w, func(password string) error {
				log.FromContext(ctx).Info("connect", "url", "postgres://app:"+password+"@db")
				return nil
			})
		},
		"password in an event": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return a.drawn(ctx, w, func(password string) error {
				if w.Status.ObservedGeneration != w.Generation {
					a.events.Event(w, corev1.EventTypeNormal, "Connected", "with "+password)
				}
				return nil
			})
		},
		"password in the status": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return a.drawn(ctx, w, func(password string) error {
				if w.Status.State == password {
					return nil
				}
				w.Status.State = password
				return a.Status().Update(ctx, w)
			})
		},
		"password in an annotation": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return a.drawn(ctx, w, func(password string) error {
				config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name + "-url"}}
				return a.store(ctx, w, config, func() { metav1.SetMetaDataAnnotation(&config.ObjectMeta, "test/url", "//"+password) })
			})
		},
		"password in another Secret": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return a.drawn(ctx, w, func(password string) error {
				secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name + "-url"}}
				return a.store(ctx, w, secret, func() { secret.Data = map[string][]byte{"url": []byte("//" + password)} })
			})
		},
		"scales down before a change": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			d, none := &appsv1.Deployment{}, int32(0)
			err := a.Get(ctx, client.ObjectKeyFromObject(w), d)
			if err != nil || w.Status.ObservedGeneration == w.Generation || *d.Spec.Replicas == 0 {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			d.Spec.Replicas = &none
			return ctrl.Result{}, a.Update(ctx, d)
		},
		"record kept in memory only": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return ctrl.Result{}, alive(w, a.record(ctx, w))
		},
		"optional child":                         optionalChild,
		"optional child tried only once":         optionalChild,
		"optional child blocks other children":   optionalChild,
		"optional child retried without backoff": optionalChild,
		"safe mode after two starts": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return a.careful(ctx, w)
		},
	}
}
