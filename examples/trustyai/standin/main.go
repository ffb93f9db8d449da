// Command standin simulates three programs for the demo: the router of OpenShift, which admits every Route and routes nothing;
// KServe, which gives every model a URL and serves none; and the drivers of evaluations, which take three seconds and evaluate
// nothing (kubelet.go).
//
// Never run it in a cluster with the real programs.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/internal/standin"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
)

func main() {
	k, err := newKubelet()
	if err != nil {
		fmt.Fprintln(os.Stderr, "standin:", err)
		os.Exit(1)
	}
	addToScheme := func(s *runtime.Scheme) error { return errors.Join(foreign.AddToScheme(s), corev1.AddToScheme(s)) }
	standin.Main(addToScheme, func(ctx context.Context, c client.Client) error {
		return errors.Join(admit(ctx, c), serve(ctx, c), k.turn(ctx, c))
	})
}

// admit marks every Route as admitted.
func admit(ctx context.Context, c client.Client) error {
	var routes foreign.RouteList
	if err := c.List(ctx, &routes); err != nil {
		return err
	}
	var errs []error
	for i := range routes.Items {
		route := &routes.Items[i]
		if route.Admitted() {
			continue
		}
		before := client.MergeFrom(route.DeepCopy())
		route.Status.Ingress = []foreign.RouteIngress{{Conditions: []foreign.RouteCondition{{Type: "Admitted", Status: corev1.ConditionTrue}}}}
		errs = append(errs, client.IgnoreNotFound(c.Status().Patch(ctx, route, before)))
	}
	return errors.Join(errs...)
}

// serve sets the URL of every model as KServe does.
func serve(ctx context.Context, c client.Client) error {
	var models foreign.InferenceServiceList
	if err := c.List(ctx, &models); err != nil {
		return err
	}
	var errs []error
	for i := range models.Items {
		model := &models.Items[i]
		if model.Status.URL != "" {
			continue
		}
		before := client.MergeFrom(model.DeepCopy())
		model.Status.URL = "http://" + model.Name + "-predictor." + model.Namespace + ".svc.cluster.local"
		errs = append(errs, client.IgnoreNotFound(c.Status().Patch(ctx, model, before)))
	}
	return errors.Join(errs...)
}
