// Command standin plays the router of OpenShift for the demo: it marks every Route as admitted, and routes nothing.
//
// Never run it where the real ones run.
package main

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/internal/standin"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
)

func main() { standin.Main(foreign.AddToScheme, admit) }

// admit admits every Route that is not.
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
		errs = append(errs, c.Status().Patch(ctx, route, before))
	}
	return errors.Join(errs...)
}
