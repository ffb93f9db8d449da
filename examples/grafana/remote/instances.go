package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta1 "github.com/reconcilekit/reconcilekit/examples/grafana/api/v1beta1"
)

// Instances are the instances that a resource selects, and the results of the changes in them.
type Instances struct {
	// Complete are those that can be used, Waiting the others.
	Complete, Waiting []client.ObjectKey
	// Err is the error of the selection.
	Err error

	failed []error
}

// Select returns the instances that a resource in the namespace selects.
func Select(ctx context.Context, r reconcile.Reader, namespace string, spec v1beta1.GrafanaCommonSpec) (found Instances) {
	selector, err := metav1.LabelSelectorAsSelector(spec.InstanceSelector)
	if err != nil {
		found.Err = health.NewError(health.InvalidSpec, "InvalidSelector", "spec.instanceSelector: "+err.Error(), nil)
		return found
	}
	options := []client.ListOption{client.MatchingLabelsSelector{Selector: selector}}
	if !spec.AllowCrossNamespaceImport {
		options = append(options, client.InNamespace(namespace))
	}
	list := reconcile.FetchList(ctx, r, &v1beta1.GrafanaList{}, options...)
	found.Err = list.Error
	for i := range list.Value.Items {
		grafana := &list.Value.Items[i]
		key := client.ObjectKeyFromObject(grafana)
		if !grafana.Complete() {
			found.Waiting = append(found.Waiting, key)
			continue
		}
		found.Complete = append(found.Complete, key)
		readCredentials(ctx, r, grafana)
	}
	return found
}

// readCredentials reads the Secrets of an instance, so that a change of one triggers the resource and the cache has it for the calls,
// which report a Secret that does not exist.
func readCredentials(ctx context.Context, r reconcile.Reader, grafana *v1beta1.Grafana) {
	key, user, password := grafana.Credentials()
	for _, ref := range []*corev1.SecretKeySelector{key, user, password} {
		if ref != nil {
			reconcile.Fetch(ctx, r, client.ObjectKey{Namespace: grafana.Namespace, Name: ref.Name}, &corev1.Secret{})
		}
	}
}

// Observe observes the resource with the uid in all instances that can be used.
func (r *Resources[S, O]) Observe(ctx context.Context, reader reconcile.Reader, in Instances, uid string) {
	for _, instance := range in.Complete {
		r.Kind.Observe(ctx, reader, keyOf(instance, uid)) // the engine compares it with the plan
	}
}

// Plan plans the resource in all instances. It stays unchanged in those that cannot be used.
func (r *Resources[S, O]) Plan(plan *reconcile.PlanResult, in Instances, uid string, spec S, common v1beta1.GrafanaCommonSpec) {
	for _, instance := range in.Complete {
		r.Ensure(plan, keyOf(instance, uid), spec)
	}
	for _, instance := range in.Waiting {
		r.Ensure(plan, keyOf(instance, uid), spec, apply.WaitUntil(false, fmt.Sprintf("Grafana %s is complete", instance)))
	}
	plan.RequeueAfter = common.ResyncPeriod.Duration
	if common.Suspend {
		plan.Policy = apply.Suspend
	}
}

// Applied returns the instances with the results of the changes in them.
func (r *Resources[S, O]) Applied(in Instances, outcome reconcile.ApplyOutcome) Instances {
	in.failed = nil
	for i := range outcome.Objects {
		if result := &outcome.Objects[i]; result.GVK == r.GroupVersionKind() && result.Err != nil {
			in.failed = append(in.failed, fmt.Errorf("%s: %w", instanceOf(result.Key.Name), result.Err))
		}
	}
	return in
}

// Health returns the selected instances as a component.
func (in Instances) Health() health.Component {
	c := health.Component{Name: "Instances", Dependency: health.Upstream, Errors: []error{in.Err}}
	if in.Err == nil && len(in.Complete)+len(in.Waiting) == 0 {
		c.State, c.Reason, c.Message = health.Pending, v1beta1.NoMatchingInstance, "no Grafana has the labels of spec.instanceSelector"
	}
	return c
}

// Report sets the conditions of a resource: whether it matches an instance, and whether it is synchronized with all of them.
func (in Instances) Report(cm *conditions.Manager, blocked error, kind, synchronized string) {
	if len(in.Complete) == 0 {
		cm.MarkTrue(v1beta1.NoMatchingInstance, "EmptyAPIReply", "None of the available Grafana instances matched the selector, skipping reconciliation")
		cm.Delete(synchronized)
		return
	}
	cm.Delete(v1beta1.NoMatchingInstance)
	switch {
	case blocked != nil:
		cm.MarkFalse(synchronized, "ApplyFailed", conditions.Bound(fmt.Sprintf("%s was not applied: %v", kind, blocked)))
	case len(in.failed) > 0:
		text := strings.ReplaceAll(errors.Join(in.failed...).Error(), "\n", "\n- ")
		cm.MarkFalse(synchronized, "ApplyFailed", conditions.Bound(fmt.Sprintf(
			"%s failed to be applied for %d out of %d instances. Errors:\n- %s", kind, len(in.failed), len(in.Complete), text)))
	default:
		cm.MarkTrue(synchronized, "ApplySuccessful", fmt.Sprintf("%s was successfully applied to %d instances", kind, len(in.Complete)))
	}
}
