package tenant

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/reconcilekit/reconcilekit/defaulting"
	"github.com/reconcilekit/reconcilekit/manifests"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
)

// addProvider accepts tokens that the identity provider has issued for the configured client, before the cluster's own tokens.
func (r *renderer) addProvider(s settings, policy *unstructured.Unstructured) error {
	if _, ok, err := unstructured.NestedMap(policy.Object, "spec", "rules"); err != nil || !ok {
		return errors.Join(fmt.Errorf("AuthPolicy %s has no spec.rules", apiPolicy), err)
	}
	patch, err := r.templates.Render("provider.yaml", s)
	if err != nil {
		return err
	}
	given, err := json.Marshal(policy)
	change, changeErr := json.Marshal(patch)
	merged, mergeErr := defaulting.Merge(given, change)
	if err := errors.Join(err, changeErr, mergeErr); err != nil {
		return err
	}
	return policy.UnmarshalJSON(merged)
}

// telemetry adds the counters by subscription, and the further labels of the tenant.
func (r *renderer) telemetry(s settings) ([]manifests.Object, error) {
	if s.Telemetry == nil || !ptr.Deref(s.Telemetry.Enabled, true) {
		return nil, nil
	}
	tokens, tokensErr := r.templates.Render("tokens.yaml", s)
	latency, latencyErr := r.templates.Render("latency.yaml", s)
	return []manifests.Object{tokens, latency}, errors.Join(tokensErr, latencyErr)
}

// Captured returns the labels of the counters in addition to the subscription.
func (s settings) Captured() map[string]bool {
	metrics := ptr.Deref(s.Telemetry.Metrics, maasv1alpha1.TenantMetrics{})
	return map[string]bool{
		"organization": ptr.Deref(metrics.CaptureOrganization, true), "model": ptr.Deref(metrics.CaptureModelUsage, true),
		"user": ptr.Deref(metrics.CaptureUser, false), "group": ptr.Deref(metrics.CaptureGroup, false),
	}
}
