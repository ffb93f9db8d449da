package reconciletest_test

import (
	"context"
	"crypto/rand"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/internal/widget"
)

// randomNames implements the traits about children with random names that the operator chooses.
func randomNames() map[trait]work {
	return map[trait]work{
		"name remembered in an annotation": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return a.chosen(ctx, w, func() string { return w.Annotations[chosenName] }, func(name string) error {
				metav1.SetMetaDataAnnotation(&w.ObjectMeta, chosenName, name)
				return a.Update(ctx, w)
			})
		},
		"name remembered in the status": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return a.chosen(ctx, w, func() string { return w.Status.State }, func(name string) error {
				w.Status.State = name
				return a.Status().Update(ctx, w)
			})
		},
		"random name in each pass": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return ctrl.Result{}, alive(w, a.named(ctx, w, w.Name+"-"+draw()))
		},
		"random name for each change": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			return a.chosen(ctx, w, func() string {
				if w.Annotations["test/for"] != w.Spec.Message {
					return ""
				}
				return w.Annotations[chosenName]
			}, func(name string) error {
				metav1.SetMetaDataAnnotation(&w.ObjectMeta, chosenName, name)
				metav1.SetMetaDataAnnotation(&w.ObjectMeta, "test/for", w.Spec.Message)
				return a.Update(ctx, w)
			})
		},
		"random name stored after its object": func(ctx context.Context, a *app, w *widget.Widget) (ctrl.Result, error) {
			name := w.Annotations[chosenName]
			if name == "" {
				name = w.Name + "-" + draw()
			}
			err := a.named(ctx, w, name)
			if err != nil || w.Annotations[chosenName] == name || !w.DeletionTimestamp.IsZero() {
				return ctrl.Result{}, alive(w, err)
			}
			metav1.SetMetaDataAnnotation(&w.ObjectMeta, chosenName, name)
			return ctrl.Result{}, a.Update(ctx, w)
		},
	}
}

const chosenName = "test/name"

func draw() string { return strings.ToLower(rand.Text())[:6] }

// chosen creates a ConfigMap with a random name. The name is stored before the ConfigMap is created.
func (a *app) chosen(ctx context.Context, w *widget.Widget, known func() string, remember func(string) error) (ctrl.Result, error) {
	if !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	if known() == "" {
		if err := remember(w.Name + "-" + draw()); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, a.named(ctx, w, known())
}

// named creates a ConfigMap with the name.
func (a *app) named(ctx context.Context, w *widget.Widget, name string) error {
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}}
	_, err := controllerutil.CreateOrUpdate(ctx, a.Client, config, func() error {
		config.Data = map[string]string{"message": w.Spec.Message, "name": name}
		return controllerutil.SetControllerReference(w, config, a.Scheme())
	})
	if apierrors.IsAlreadyExists(err) {
		return client.IgnoreAlreadyExists(err) // the cache is stale, and an event follows
	}
	return err
}
