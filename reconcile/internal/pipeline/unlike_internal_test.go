package pipeline

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// TestUnlike checks that an object that differs from the plan has an error, or makes the owner not ready with a message that names it.
func TestUnlike(t *testing.T) {
	t.Parallel()
	const (
		owner  = types.UID("owner")
		remedy = "; the controllers that set them must remove them: see that these run, or remove the finalizers by hand if they no longer exist"
	)
	result := func(outcome apply.Outcome, reason apply.Reason, change ...func(*apply.ObjectResult)) apply.ObjectResult {
		o := apply.ObjectResult{Outcome: outcome, Decision: apply.Decision{
			GVK: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Key: types.NamespacedName{Namespace: "a", Name: "b"},
			Verb: apply.VerbNone, Reason: reason,
		}}
		for _, f := range change {
			f(&o)
		}
		return o
	}
	held := func(o *apply.ObjectResult) { o.Finalizers = []string{"example.com/x", "example.com/y"} }
	failed := func(o *apply.ObjectResult) { o.Err = errors.New("refused") }
	writing := func(o *apply.ObjectResult) { o.Verb = apply.VerbCreate }
	for name, c := range map[string]struct {
		objects         []apply.ObjectResult
		reason, message string
	}{
		"as planned":                    {objects: []apply.ObjectResult{result(apply.OutcomeUnchanged, apply.ReasonUpToDate)}},
		"created":                       {objects: []apply.ObjectResult{result(apply.OutcomeCreated, apply.ReasonMissing)}},
		"updated":                       {objects: []apply.ObjectResult{result(apply.OutcomeUpdated, apply.ReasonDrift)}},
		"created once":                  {objects: []apply.ObjectResult{result(apply.OutcomeUnchanged, apply.ReasonExists)}},
		"written, not in the cache yet": {objects: []apply.ObjectResult{result(apply.OutcomeUnchanged, apply.ReasonStaleCache)}},
		"opted out":                     {objects: []apply.ObjectResult{result(apply.OutcomeOptedOut, apply.ReasonOptedOut)}},
		"contested, with an error":      {objects: []apply.ObjectResult{result(apply.OutcomeContested, apply.ReasonContested, failed)}},
		"backoff, with an error":        {objects: []apply.ObjectResult{result(apply.OutcomeFailed, apply.ReasonBackoff, failed)}},
		"missing, with an error":        {objects: []apply.ObjectResult{result(apply.OutcomeBlocked, apply.ReasonMissing, failed)}},
		"a deletion in progress":        {objects: []apply.ObjectResult{result(apply.OutcomeUnchanged, apply.ReasonTerminating)}},
		"a failed read":                 {objects: []apply.ObjectResult{result(apply.OutcomeBlocked, apply.ReasonReadFailed)}},
		"the owner itself is being deleted": {objects: []apply.ObjectResult{
			result(apply.OutcomeBlocked, apply.ReasonTerminating, func(o *apply.ObjectResult) { o.UID = owner }),
		}},
		"two children in a namespace that is being deleted": {
			objects: []apply.ObjectResult{
				result(apply.OutcomeBlocked, apply.ReasonNamespaceTerminating),
				result(apply.OutcomeBlocked, apply.ReasonNamespaceTerminating, func(o *apply.ObjectResult) { o.Key.Name = "c" }),
			},
			reason: "NamespaceTerminating", message: "namespace a is being deleted, and nothing can be created in it",
		},
		"a child that is being deleted": {
			objects: []apply.ObjectResult{result(apply.OutcomeBlocked, apply.ReasonTerminating)},
			reason:  "Terminating", message: "ConfigMap a/b is being deleted; it is created again when it is gone",
		},
		"a child with finalizers that is being deleted": {
			objects: []apply.ObjectResult{result(apply.OutcomeBlocked, apply.ReasonTerminating, held)},
			reason:  "Terminating", message: "ConfigMap a/b is being deleted and kept by the finalizers example.com/x, example.com/y" + remedy +
				"; it is created again when it is gone",
		},
		"a planned deletion that waits for finalizers": {
			objects: []apply.ObjectResult{result(apply.OutcomeUnchanged, apply.ReasonTerminating, held)},
			reason:  "Terminating", message: "ConfigMap a/b is being deleted and kept by the finalizers example.com/x, example.com/y" + remedy,
		},
		"waiting": {
			objects: []apply.ObjectResult{result(apply.OutcomeWaiting, apply.ReasonWaiting, func(o *apply.ObjectResult) { o.WaitsUntil = "c is ready" })},
			reason:  "Waiting", message: "ConfigMap a/b waits until c is ready",
		},
		"blocked for another cause": {
			objects: []apply.ObjectResult{result(apply.OutcomeBlocked, apply.ReasonMissing, writing)},
			reason:  "Missing", message: "ConfigMap a/b is not as planned yet (Missing)",
		},
		"contested without an error": {
			objects: []apply.ObjectResult{result(apply.OutcomeContested, apply.ReasonContested)},
			reason:  "Contested", message: "ConfigMap a/b is not as planned yet (Contested)",
		},
		"failed without an error": {
			objects: []apply.ObjectResult{result(apply.OutcomeFailed, apply.ReasonBackoff)},
			reason:  "Backoff", message: "ConfigMap a/b is not as planned yet (Backoff)",
		},
		"not observed": {
			objects: []apply.ObjectResult{result(apply.OutcomeUpdated, apply.ReasonDrift, func(o *apply.ObjectResult) { o.Unobserved = true })},
			reason:  "ChangeNotObserved", message: "ConfigMap a/b was changed, and its status is not about the change yet",
		},
		"several": {
			objects: []apply.ObjectResult{
				result(apply.OutcomeUnchanged, apply.ReasonUpToDate),
				result(apply.OutcomeBlocked, apply.ReasonTerminating),
				result(apply.OutcomeBlocked, apply.ReasonMissing, writing),
			},
			reason: "Terminating", message: "ConfigMap a/b is being deleted; it is created again when it is gone; ConfigMap a/b is not as planned yet (Missing)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := health.Component{}
			if c.reason != "" {
				want = health.Component{State: health.Progressing, Reason: c.reason, Message: c.message, Immediate: true}
			}
			if diff := cmp.Diff(want, unlikePlan(&apply.Result{Objects: c.objects}, owner)); diff != "" {
				t.Errorf("Unlike (-want +got):\n%s", diff)
			}
		})
	}
}
