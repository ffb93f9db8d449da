package health_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
)

// outcome is a short form of the result of a reconciliation.
type outcome struct {
	Conditions   []string
	State        health.State
	Retry        string
	Terminal     []string
	RequeueAfter time.Duration
}

// pass runs a reconciliation with the stored conditions.
func pass(stored []metav1.Condition, generation int64, o health.Options, observe ...[]health.Component) ([]metav1.Condition, outcome) {
	m := conditions.NewManager(stored, generation, o.Now)
	a := health.NewAssessor(m, o)
	for _, components := range observe {
		a.Observe(components...)
	}
	assessment := a.Summarize()
	out := outcome{State: assessment.State, RequeueAfter: assessment.RequeueAfter}
	if assessment.Retry != nil {
		out.Retry = assessment.Retry.Error()
	}
	for _, e := range assessment.Terminal {
		out.Terminal = append(out.Terminal, e.Error())
	}
	for _, c := range m.Conditions() {
		out.Conditions = append(out.Conditions, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return m.Conditions(), out
}

// retry joins the errors that a retry may resolve.
func retry(errs ...error) error {
	a := health.NewAssessor(conditions.NewManager(nil, 1, start), health.Options{})
	a.Observe(health.Component{Errors: errs})
	return a.Summarize().Retry
}

func failed(category health.Category) error {
	return health.NewError(category, string(category)+"Reason", "what is wrong", nil)
}

func TestCategories(t *testing.T) {
	t.Parallel()
	const (
		component   = "XReady=False %sReason: what is wrong"
		named       = "Ready=False %sReason: Component X is not ready: what is wrong"
		unreachable = "DependenciesReachable=False InfrastructureError: Cannot reach dependencies"
	)
	cases := map[health.Category]struct {
		want   outcome
		blocks bool
	}{
		health.InvalidSpec: {outcome{
			Conditions: []string{
				"Ready=False InvalidSpec: Configuration validation failed",
				"ConfigValid=False InvalidSpec: Configuration validation failed", component,
			},
			State: health.Failed, Terminal: []string{"InvalidSpecReason: what is wrong"},
		}, true},
		health.Auth: {outcome{
			Conditions: []string{
				"Ready=False AuthError: Authentication or authorization failure",
				"AuthValid=False AuthError: Authentication or authorization failure", component,
			},
			State: health.Failed, Terminal: []string{"AuthReason: what is wrong"},
		}, true},
		health.MissingUpstreamDependency: {outcome{
			Conditions: []string{
				"Ready=False ReferenceNotFound: Referenced resource not found",
				"ConfigValid=False ReferenceNotFound: Referenced resource not found", component,
			},
			State: health.Failed,
		}, true},
		health.MissingDownstreamDependency: {outcome{
			Conditions: []string{"Ready=False Progressing: Waiting for X: what is wrong", component},
			State:      health.Progressing,
		}, false},
		health.ResourceExhaustion: {outcome{
			Conditions: []string{named, component}, State: health.Failed, Terminal: []string{"ResourceExhaustionReason: what is wrong"},
		}, false},
		health.Infrastructure: {outcome{
			Conditions: []string{named, unreachable, component}, State: health.Degraded, Retry: "InfrastructureReason: what is wrong",
		}, true},
		health.Conflict: {outcome{
			Conditions: []string{named, component}, State: health.Degraded, Retry: "ConflictReason: what is wrong",
		}, false},
		health.Unknown: {outcome{
			Conditions: []string{named, unreachable, component}, State: health.Degraded, Retry: "UnknownReason: what is wrong",
		}, true},
	}
	for category, tc := range cases {
		t.Run(category.String(), func(t *testing.T) {
			t.Parallel()
			for i, c := range tc.want.Conditions {
				if c == component || c == named {
					tc.want.Conditions[i] = fmt.Sprintf(c, category)
				}
			}
			x := health.Component{Name: "X", Errors: []error{failed(category)}}
			_, got := pass(nil, 1, health.Options{Now: start}, []health.Component{x})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if blocked := len(health.Blocking([]health.Component{x})) > 0; blocked != tc.blocks {
				t.Errorf("blocks = %v, want %v", blocked, tc.blocks)
			}
			x.Child = true
			if blocked := health.Blocking([]health.Component{x}); len(blocked) > 0 {
				t.Errorf("a child blocks: %v", blocked)
			}
		})
	}
}

func TestSummaryIsNeverReadyWhenSomethingFailed(t *testing.T) {
	t.Parallel()
	fine := health.Component{Name: "A", State: health.Ready, Reason: "Fine"}
	cases := map[string][]health.Component{
		"error with an explicit Ready":          {{Name: "X", State: health.Ready, Errors: []error{failed(health.Conflict)}}},
		"error without a name":                  {{Errors: []error{failed(health.ResourceExhaustion)}}},
		"child":                                 {{Name: "X", Child: true, Errors: []error{failed(health.InvalidSpec)}}},
		"Failed before Ready for one component": {{Name: "X", State: health.Failed}, {Name: "X"}},
		"unknown state":                         {{Name: "X", State: "Running"}},
	}
	for name, components := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored, got := pass(nil, 1, health.Options{Now: start}, []health.Component{fine}, components)
			if !meta.IsStatusConditionFalse(stored, "Ready") || got.State == health.Ready {
				t.Errorf("%v", got)
			}
			if !meta.IsStatusConditionTrue(stored, "AReady") {
				t.Errorf("the healthy component is not ready: %v", got)
			}
		})
	}
}

func TestErrorWithoutNameKeepsItsDetail(t *testing.T) {
	t.Parallel()
	refused := health.NewError(health.InvalidSpec, "InvalidSpec", "spec.replicas: must not be negative", nil)
	_, got := pass(nil, 1, health.Options{Now: start}, []health.Component{{Errors: []error{refused, failed(health.Conflict)}, Immediate: true}})
	want := outcome{
		Conditions: []string{
			"Ready=False InvalidSpec: Configuration validation failed: spec.replicas: must not be negative",
			"ConfigValid=False InvalidSpec: Configuration validation failed: spec.replicas: must not be negative",
		},
		State: health.Failed, Retry: "ConflictReason: what is wrong",
		Terminal: []string{"InvalidSpec: spec.replicas: must not be negative"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	_, got = pass(nil, 1, health.Options{Now: start}, []health.Component{{Errors: []error{failed(health.Conflict), failed(health.Conflict)}}})
	if want := "Ready=False ConflictReason: what is wrong (and 1 more)"; got.Conditions[0] != want {
		t.Errorf("summary = %s, want %s", got.Conditions[0], want)
	}
	_, got = pass(nil, 1, health.Options{Now: start}, []health.Component{{}})
	if want := []string{"Ready=True AllComponentsReady: All components are ready"}; !cmp.Equal(want, got.Conditions) {
		t.Errorf("a component that does not apply: %v", got.Conditions)
	}
}

func TestGrace(t *testing.T) {
	t.Parallel()
	server := health.Component{Name: "Server", State: health.Ready, Reason: "Serving", Message: "fine"}
	busy := health.Component{Name: "Server", State: health.Progressing, Reason: "Busy", Message: "2 of 3"}
	broken := health.Component{Name: "Server", State: health.Failed, Reason: "Broken", Message: "no"}
	down := health.Component{Name: "Server", Errors: []error{failed(health.Infrastructure)}}
	immediate := down
	immediate.Immediate = true
	mixed := health.Component{Name: "Server", Errors: []error{failed(health.Infrastructure), failed(health.InvalidSpec)}}
	const outage = "Server is not ready: what is wrong"
	cases := map[string]struct {
		before, now health.Component
		generation  int64
		grace       time.Duration
		after       time.Duration
		condition   string
		summary     string
		state       health.State
		requeue     time.Duration
	}{
		"ready is kept during the grace period": {
			before: server, now: down, condition: "Serving: fine", summary: "AllComponentsReady: All components are ready",
			state: health.Ready, requeue: 10 * time.Second,
		},
		"ready is kept until the grace period ends": {
			before: server, now: down, after: 9*time.Second + 500*time.Millisecond, condition: "Serving: fine",
			summary: "AllComponentsReady: All components are ready", state: health.Ready, requeue: 500 * time.Millisecond,
		},
		"ready is not kept after the grace period": {
			before: server, now: down, after: 10 * time.Second, condition: "InfrastructureReason: what is wrong",
			summary: "InfrastructureReason: Component " + outage, state: health.Degraded,
		},
		"progressing is kept": {
			before: busy, now: down, condition: "Busy: 2 of 3", summary: "Progressing: Waiting for Server: 2 of 3",
			state: health.Progressing, requeue: 10 * time.Second,
		},
		"a failure is kept": {
			before: broken, now: down, condition: "Broken: no", summary: "Broken: Component Server is not ready: no",
			state: health.Degraded, requeue: 10 * time.Second,
		},
		"another generation": {
			before: server, now: down, generation: 2, condition: "InfrastructureReason: what is wrong",
			summary: "InfrastructureReason: Component " + outage, state: health.Degraded,
		},
		"immediate": {
			before: server, now: immediate, condition: "InfrastructureReason: what is wrong",
			summary: "InfrastructureReason: Component " + outage, state: health.Degraded,
		},
		"with an error of another category": {
			before: server, now: mixed, condition: "InfrastructureReason: what is wrong",
			summary: "InvalidSpec: Configuration validation failed", state: health.Failed,
		},
		"none": {
			before: server, now: down, grace: -1, condition: "InfrastructureReason: what is wrong",
			summary: "InfrastructureReason: Component " + outage, state: health.Degraded,
		},
		"longer": {
			before: server, now: down, grace: time.Minute, after: 50 * time.Second, condition: "Serving: fine",
			summary: "AllComponentsReady: All components are ready", state: health.Ready, requeue: 10 * time.Second,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			generation := max(tc.generation, 1)
			stored, _ := pass(nil, 1, health.Options{Now: start}, []health.Component{tc.before})
			now := start.Add(time.Minute)
			stored, got := pass(stored, generation, health.Options{Now: now, Grace: tc.grace}, []health.Component{tc.now})
			if tc.after > 0 {
				stored, got = pass(stored, generation, health.Options{Now: now.Add(tc.after), Grace: tc.grace}, []health.Component{tc.now})
			}
			component, summary := meta.FindStatusCondition(stored, "ServerReady"), meta.FindStatusCondition(stored, "Ready")
			if text := component.Reason + ": " + component.Message; text != tc.condition {
				t.Errorf("component = %s, want %s", text, tc.condition)
			}
			if text := summary.Reason + ": " + summary.Message; text != tc.summary {
				t.Errorf("summary = %s, want %s", text, tc.summary)
			}
			if got.State != tc.state || got.RequeueAfter != tc.requeue {
				t.Errorf("state %s after %v, want %s after %v", got.State, got.RequeueAfter, tc.state, tc.requeue)
			}
			if !meta.IsStatusConditionFalse(stored, health.DependenciesReachable) || got.Retry == "" {
				t.Errorf("the outage is not reported: %v", got)
			}
			_, got = pass(stored, generation, health.Options{Now: now.Add(time.Hour)}, []health.Component{server})
			if got.State != health.Ready {
				t.Errorf("the component does not recover in the next reconciliation: %v", got)
			}
		})
	}
}

func TestInspectorResultIsNotRetried(t *testing.T) {
	t.Parallel()
	child := health.Component{Name: "X", Child: true, Dependency: health.Downstream}
	child.Errors = []error{failed(health.Infrastructure), failed(health.InvalidSpec)}
	_, got := pass(nil, 1, health.Options{Now: start}, []health.Component{child})
	if got.Retry != "" || got.Terminal != nil {
		t.Errorf("the result of an inspector is retried: %v", got)
	}
	child.Errors = []error{errors.New("boom")}
	_, got = pass(nil, 1, health.Options{Now: start}, []health.Component{child})
	if got.Retry != "UnknownError: boom" {
		t.Errorf("a failed read is not retried: %v", got)
	}
}

func TestRecheck(t *testing.T) {
	t.Parallel()
	x := []health.Component{{Name: "X", Errors: []error{failed(health.Auth)}}}
	_, never := pass(nil, 1, health.Options{Now: start}, x)
	_, later := pass(nil, 1, health.Options{Now: start, Recheck: time.Minute}, x)
	if never.RequeueAfter != 0 || later.RequeueAfter != time.Minute {
		t.Errorf("requeue after %v and %v", never.RequeueAfter, later.RequeueAfter)
	}
}

func TestComponentNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"Server": "ServerReady", "my server/1": "myserver1Ready", "-.x": "xReady"} {
		m := conditions.NewManager(nil, 1, start)
		a := health.NewAssessor(m, health.Options{})
		a.Observe(health.Component{Name: name})
		if got := m.Managed(); len(got) != 1 || got[0] != want {
			t.Errorf("%q has the condition %v, want %s", name, got, want)
		}
	}
}

func TestRetryError(t *testing.T) {
	t.Parallel()
	cause := errors.New("dial tcp: refused")
	_, got := pass(nil, 1, health.Options{Now: start}, []health.Component{{
		Name: "X", Errors: []error{health.NewError(health.Infrastructure, "Net", "down", cause), errors.New("boom")},
	}})
	if want := "2 errors: Net: down (dial tcp: refused); UnknownError: boom"; got.Retry != want {
		t.Errorf("retry = %s, want %s", got.Retry, want)
	}
}

// TestWaitingSummary checks that the summary names the first components that it waits for.
func TestWaitingSummary(t *testing.T) {
	t.Parallel()
	busy := func(name, object, message string) health.Component {
		return health.Component{Name: name, Object: object, State: health.Progressing, Reason: "Busy", Message: message}
	}
	ready := health.Component{Name: "Ready", Object: "r", Message: "fine"}
	for name, test := range map[string]struct {
		components []health.Component
		want       string
	}{
		"one": {[]health.Component{busy("Server", "", "2 of 3")}, "Waiting for Server: 2 of 3"},
		"one object of a kind": {
			[]health.Component{ready, busy("Deployment", "web", "1 of 3 replicas are ready")},
			"Waiting for Deployment/web: 1 of 3 replicas are ready",
		},
		"an object without a message": {[]health.Component{busy("Deployment", "web", "")}, "Waiting for Deployment/web"},
		"the worst of two objects": {
			[]health.Component{
				busy("Deployment", "web", "w"), {Name: "Deployment", Object: "db", State: health.Pending, Reason: "Held", Message: "d"},
			},
			"Waiting for Deployment/db: d",
		},
		"no message":  {[]health.Component{busy("Server", "", "")}, "Waiting for Server"},
		"an upstream": {[]health.Component{{Name: "Site", Dependency: health.Upstream, State: health.Pending}}, "Waiting for Site"},
		"three": {
			[]health.Component{busy("A", "", "1"), busy("B", "b", "2"), busy("C", "", "3")}, "Waiting for A: 1; B/b: 2; C: 3",
		},
		"five": {
			[]health.Component{busy("A", "", "1"), busy("B", "", "2"), busy("C", "", "3"), busy("D", "", "4"), busy("E", "", "5")},
			"Waiting for A: 1; B: 2; C: 3; and 2 more",
		},
		"a missing object that is being created": {
			[]health.Component{{Name: "Service", Object: "web", Errors: []error{
				health.NewError(health.MissingDownstreamDependency, "NotFound", "it does not exist yet", nil),
			}}},
			"Waiting for Service/web: it does not exist yet",
		},
		"a part without a name": {
			[]health.Component{busy("A", "", "1"), {State: health.Progressing, Message: "Waiting for the lease"}}, "Waiting for the lease",
		},
		"a failure": {
			[]health.Component{busy("A", "", "1"), {Name: "B", Object: "b", State: health.Failed, Message: "broken"}},
			"Component B is not ready: b: broken",
		},
		"ready": {[]health.Component{ready}, "All components are ready"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored, _ := pass(nil, 1, health.Options{Now: start}, test.components)
			if diff := cmp.Diff(test.want, meta.FindStatusCondition(stored, conditions.Ready).Message); diff != "" {
				t.Errorf("message of Ready (-want +got):\n%s", diff)
			}
		})
	}
}
