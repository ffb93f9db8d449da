package pipeline

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
)

// TestNewsworthy checks that each cause is announced once, also if only one condition contains it.
func TestNewsworthy(t *testing.T) {
	t.Parallel()
	condition := func(name, status, reason, message string) metav1.Condition {
		return metav1.Condition{Type: name, Status: metav1.ConditionStatus(status), Reason: reason, Message: message}
	}
	const cause = `failed calling webhook "dead.example.com"`
	type set struct {
		condition metav1.Condition
		options   []conditions.Option
	}
	failed := []conditions.Option{conditions.AsError}
	for name, c := range map[string]struct {
		stored []metav1.Condition
		now    []set
		want   []string
	}{
		"a rejected write": {
			now: []set{
				{condition("Ready", "False", "AdmissionWebhookFailed", "ConfigMap a/b: "+cause), failed},
				{condition(health.DependenciesReachable, "False", "InfrastructureError", "Cannot reach dependencies: ConfigMap a/b: "+cause), failed},
			},
			want: []string{"Warning AdmissionWebhookFailed ConfigMap a/b: " + cause},
		},
		"a component that the summary names, and another one": {
			now: []set{
				{condition("Ready", "False", "CrashLoopBackOff", "Component Server is not ready: exit 1"), failed},
				{condition("ServerReady", "False", "CrashLoopBackOff", "exit 1"), failed},
				{condition("CacheReady", "False", "NoSpace", "disk full"), failed},
			},
			want: []string{"Warning CrashLoopBackOff Component Server is not ready: exit 1", "Warning NoSpace disk full"},
		},
		"a category next to a component, with an unchanged summary": {
			stored: []metav1.Condition{condition("Ready", "False", "AuthError", "before")},
			now: []set{
				{condition("Ready", "False", "AuthError", "now"), failed},
				{condition("ServerReady", "False", "Forbidden", "cannot get pods"), failed},
				{condition(health.AuthValid, "False", "AuthError", "No right"), failed},
			},
			want: []string{"Warning Forbidden cannot get pods"},
		},
		"a category alone": {
			stored: []metav1.Condition{condition("Ready", "False", "AuthError", "before")},
			now: []set{
				{condition("Ready", "False", "AuthError", "now"), failed},
				{condition(health.AuthValid, "False", "AuthError", "No right"), failed},
			},
			want: []string{"Warning AuthError No right"},
		},
		"a new ready owner": {
			now: []set{
				{condition("Ready", "True", "Ready", "All components are ready"), nil},
				{condition("ServerReady", "True", "Available", "2 of 2"), nil},
			},
			want: []string{"Normal Ready All components are ready"},
		},
		"a recovery": {
			stored: []metav1.Condition{
				condition("Ready", "False", "AuthError", ""), condition(health.AuthValid, "False", "AuthError", ""),
				condition("ServerReady", "False", "Forbidden", ""),
			},
			now: []set{
				{condition("Ready", "True", "Ready", "All components are ready"), nil},
				{condition(health.AuthValid, "True", "AuthValid", "ok"), nil},
				{condition("ServerReady", "True", "Available", "2 of 2"), nil},
			},
			want: []string{"Normal Ready All components are ready"},
		},
		"progress within a status": {
			stored: []metav1.Condition{condition("ServerReady", "False", "Pulling", "")},
			now:    []set{{condition("ServerReady", "False", "Starting", "soon"), nil}},
		},
		"another reason of a failure": {
			stored: []metav1.Condition{condition("ServerReady", "False", "Pulling", "")},
			now:    []set{{condition("ServerReady", "False", "CrashLoopBackOff", "exit 1"), failed}},
			want:   []string{"Warning CrashLoopBackOff exit 1"},
		},
		"a message of the author": {
			stored: []metav1.Condition{condition("Working", "True", "Creating", "")},
			now: []set{
				{condition("Working", "True", "Updating", "updating"), []conditions.Option{conditions.EventReason("ServiceUpdated")}},
				{condition("Ready", "True", "Ready", "All components are ready"), nil},
			},
			want: []string{"Normal Ready All components are ready", "Normal ServiceUpdated updating"},
		},
		"a silent condition of the author": {
			now: []set{{condition("ServerReady", "False", "Broken", "it is broken"), []conditions.Option{conditions.Silent}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := conditions.NewManager(c.stored, 1, metav1.Now().Time)
			for _, s := range c.now {
				m.Set(s.condition.Type, s.condition.Status, s.condition.Reason, s.condition.Message, s.options...)
			}
			var got []string
			for _, told := range newsworthy(m.Transitions()) {
				got = append(got, told.Event.Type+" "+told.Event.Reason+" "+told.Event.Message)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}
