package operator_test

import (
	"context"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

// action is what somebody else does to an object of the product, or because of it.
type action func(ctx context.Context, c client.Client, o *unstructured.Unstructured) error

// once lets somebody act one time when a pass has found the object of the kind in the phase, or so many passes later: its
// controller has had its say then.
func once(kind, name, phase string, later int, act action) func() reconciletest.StandIn {
	namespace := "default"
	if kind == "Tenant" {
		namespace = config.SubscriptionNamespace
	}
	return func() reconciletest.StandIn {
		looks := 0
		return func(ctx context.Context, c client.Client) error {
			o := models.Kind(schema.GroupVersionKind{Group: "maas.opendatahub.io", Version: "v1alpha1", Kind: kind})
			if err := c.Get(ctx, models.Key(namespace, name), o); err != nil {
				return client.IgnoreNotFound(err)
			}
			if now, _, _ := unstructured.NestedString(o.Object, "status", "phase"); now != phase {
				return nil
			}
			if looks++; looks != later+1 {
				return nil
			}
			return act(ctx, c, o)
		}
	}
}

// set changes a field of the object.
func set(value any, fields ...string) action {
	return func(ctx context.Context, c client.Client, o *unstructured.Unstructured) error {
		if err := unstructured.SetNestedField(o.Object, value, fields...); err != nil {
			return err
		}
		return c.Update(ctx, o)
	}
}

// TestSDKIsNeeded: what the example shows rests on the SDK. The same expectations hold with all of it, and each does
// not hold once its part is off.
func TestSDKIsNeeded(t *testing.T) {
	t.Parallel()
	for name, tc := range sdkCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reconciletest.Needs(t, tc.off, func() reconciletest.Scenario {
				s := tc.system(t)
				if tc.meanwhile != nil {
					s.StandIns = append(s.StandIns, tc.meanwhile())
				}
				return reconciletest.Scenario{System: s, ExpectYAML: tc.expect, Gone: tc.gone}
			})
		})
	}
}
