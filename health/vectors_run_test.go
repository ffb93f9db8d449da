package health_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/vectors"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// recordedError is an error in a vector.
type recordedError struct {
	Kind, Category, Reason, Message, Errno, Host, Op, Value string
	Code                                                    int32
	Inner, Cause                                            *recordedError
	Errors                                                  []*recordedError
}

func (r *recordedError) make(t *testing.T) error {
	t.Helper()
	if r == nil {
		return nil
	}
	switch r.Kind {
	case "api":
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: r.Code, Reason: metav1.StatusReason(r.Reason), Message: r.Message,
		}}
	case "state":
		return health.NewError(health.Category(r.Category), r.Reason, r.Message, r.Cause.make(t))
	case "errno":
		return map[string]syscall.Errno{
			"ECONNREFUSED": syscall.ECONNREFUSED, "ETIMEDOUT": syscall.ETIMEDOUT, "ECONNRESET": syscall.ECONNRESET,
			"EHOSTUNREACH": syscall.EHOSTUNREACH, "EPIPE": syscall.EPIPE,
		}[r.Errno]
	case "dns":
		return &net.DNSError{Name: r.Host}
	case "op":
		return &net.OpError{Op: r.Op, Err: r.Inner.make(t)}
	case "url":
		return &url.Error{Op: "Get", URL: "https://api.example.com", Err: r.Inner.make(t)}
	case "plain":
		return errors.New(r.Message)
	case "wrap":
		return fmt.Errorf("%s: %w", r.Message, r.Inner.make(t))
	case "join":
		var list []error
		for _, e := range r.Errors {
			list = append(list, e.make(t))
		}
		return errors.Join(list...)
	case "context":
		return context.DeadlineExceeded
	case "noKindMatch":
		return &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "g", Kind: "K"}, SearchedVersions: []string{"v1"}}
	}
	t.Fatalf("unknown error kind %q", r.Kind)
	return nil
}

// recordedHealth is a component in a vector.
type recordedHealth struct {
	Component, Dependency, State, Reason, Message string
	Errors                                        []*recordedError
}

func (r recordedHealth) make(t *testing.T) health.Component {
	t.Helper()
	c := health.Component{
		Name: r.Component, State: health.State(r.State), Reason: r.Reason, Message: r.Message,
		Dependency: health.Dependency(r.Dependency),
	}
	for _, e := range r.Errors {
		c.Errors = append(c.Errors, e.make(t))
	}
	return c
}

type recordedCondition struct {
	At      int    `json:"at"`
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

func runAssessor(t *testing.T, input json.RawMessage) any {
	t.Helper()
	var in struct {
		Steps []struct {
			At       int
			Health   []recordedHealth
			Decorate []recordedCondition
		}
	}
	vectors.Decode(t, input, &in)
	var stored []metav1.Condition
	steps := []any{}
	for _, s := range in.Steps {
		now := start.Add(time.Duration(s.At) * time.Second)
		m := conditions.NewManager(stored, 0, now)
		a := health.NewAssessor(m, health.Options{Now: now})
		var components []health.Component
		for _, h := range s.Health {
			components = append(components, h.make(t))
		}
		a.Observe(components...)
		for _, d := range s.Decorate {
			m.Set(d.Type, metav1.ConditionStatus(d.Status), d.Reason, d.Message)
		}
		m.RemoveStale(func(conditionType string) bool { return strings.HasSuffix(conditionType, conditions.Ready) })
		out := a.Summarize()
		events := []string{}
		for _, tr := range m.Transitions() {
			events = append(events, tr.Event.Type+" "+tr.Event.Reason+" "+tr.Event.Message)
		}
		slices.Sort(events)
		stored = m.Conditions()
		steps = append(steps, map[string]any{
			"conditions": recorded(stored), "events": events, "status": out.State,
			"requeue": out.Retry != nil, "shouldApply": len(health.Blocking(components)) == 0,
		})
	}
	return map[string]any{"steps": steps}
}

func recorded(list []metav1.Condition) []recordedCondition {
	var out []recordedCondition
	for _, c := range list {
		out = append(out, recordedCondition{
			int(c.LastTransitionTime.Sub(start).Seconds()), c.Type, string(c.Status), c.Reason, c.Message,
		})
	}
	slices.SortFunc(out, func(a, b recordedCondition) int { return strings.Compare(a.Type, b.Type) })
	return out
}

func runCompare(t *testing.T, input json.RawMessage) any {
	t.Helper()
	var in struct{ A, B health.State }
	vectors.Decode(t, input, &in)
	order := 0
	switch {
	case health.Worse(in.A, in.B):
		order = -1
	case health.Worse(in.B, in.A):
		order = 1
	}
	return map[string]any{"result": order}
}

func runCategorize(t *testing.T, input json.RawMessage) any {
	t.Helper()
	var in struct{ Error *recordedError }
	vectors.Decode(t, input, &in)
	e := health.Categorize(in.Error.make(t))
	if e == nil {
		return map[string]any{"result": nil}
	}
	return map[string]any{"category": e.Category.String(), "reason": e.Reason, "message": e.Message}
}

func runErrorText(t *testing.T, input json.RawMessage) any {
	t.Helper()
	var in struct{ Error *recordedError }
	vectors.Decode(t, input, &in)
	err := in.Error.make(t)
	var known *health.Error
	return map[string]any{"isCategorised": errors.As(err, &known), "text": err.Error()}
}

func runComponent(t *testing.T, input json.RawMessage) any {
	t.Helper()
	var in struct{ Health recordedHealth }
	vectors.Decode(t, input, &in)
	return vectors.Result(in.Health.make(t))
}
