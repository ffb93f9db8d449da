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

// action changes an object of the product, or reacts to it, as a user or another controller does.
type action func(ctx context.Context, c client.Client, o *unstructured.Unstructured) error

// once returns a stand-in that acts one time: when a reconciliation has found the object in the phase, or the given
// number of calls later, so that the object's controller has finished.
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

// set returns an action that sets a field of the object.
func set(value any, fields ...string) action {
	return func(ctx context.Context, c client.Client, o *unstructured.Unstructured) error {
		if err := unstructured.SetNestedField(o.Object, value, fields...); err != nil {
			return err
		}
		return c.Update(ctx, o)
	}
}

// TestSDKIsNeeded checks that the results of the example depend on each part of the library: a scenario holds with the
// complete library, and fails without the part.
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
