// Command standin plays, for the demo, the router of OpenShift and what makes volumes: it marks every Route as admitted and every claim
// as bound. It routes nothing and stores nothing.
//
// Never run it where the real ones run.
package main

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/internal/standin"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
)

func main() {
	standin.Main(func(s *runtime.Scheme) error { return errors.Join(foreign.AddToScheme(s), corev1.AddToScheme(s)) }, play)
}

func play(ctx context.Context, c client.Client) error {
	return errors.Join(admit(ctx, c), bind(ctx, c))
}

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

// bind calls every claim bound that waits for a volume.
func bind(ctx context.Context, c client.Client) error {
	var claims corev1.PersistentVolumeClaimList
	if err := c.List(ctx, &claims); err != nil {
		return err
	}
	var errs []error
	for i := range claims.Items {
		claim := &claims.Items[i]
		if claim.Status.Phase != corev1.ClaimPending {
			continue
		}
		before := client.MergeFrom(claim.DeepCopy())
		claim.Status.Phase = corev1.ClaimBound
		errs = append(errs, c.Status().Patch(ctx, claim, before))
	}
	return errors.Join(errs...)
}
