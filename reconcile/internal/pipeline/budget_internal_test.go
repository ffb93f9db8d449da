package pipeline

import (
	"context"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
)

func TestBudgetCheck(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 1000)
	untyped := &unstructured.Unstructured{Object: map[string]any{"kind": "Route", "spec": map[string]any{"text": text, "list": []any{text, int64(1)}}}}
	for name, test := range map[string]struct {
		budget budget
		plan   func(*reconcile.PlanResult)
		want   string
	}{
		"Empty":    {plan: func(*reconcile.PlanResult) {}},
		"AtLimit":  {budget: budget{MaxChildren: 2}, plan: func(p *reconcile.PlanResult) { p.Apply(&corev1.Secret{}); p.Delete(&corev1.Pod{}) }},
		"NoLimit":  {budget: budget{MaxChildren: -1, MaxBytes: -1}, plan: func(p *reconcile.PlanResult) { fill(p, 6000) }},
		"Defaults": {plan: func(p *reconcile.PlanResult) { fill(p, 5001) }, want: "the plan has 5001 objects, at most 5000 are allowed (Budget.MaxChildren): 5001 ConfigMap"},
		"Children": {
			budget: budget{MaxChildren: 2},
			plan: func(p *reconcile.PlanResult) {
				p.Apply(&appsv1.Deployment{})
				fill(p, 2)
				p.Delete(&corev1.Pod{})
			},
			want: "the plan has 4 objects, at most 2 are allowed (Budget.MaxChildren): 2 ConfigMap, 1 Deployment, 1 to delete",
		},
		"Bytes": {
			budget: budget{MaxBytes: 2500},
			plan: func(p *reconcile.PlanResult) {
				p.Apply(&corev1.ConfigMap{Data: map[string]string{"a": text}})
				p.Apply(untyped)
				p.Apply(&widget.Widget{})
			},
			want: "at most 2500 are allowed (Budget.MaxBytes): 20",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var plan reconcile.PlanResult
			test.plan(&plan)
			err := test.budget.orDefaults().check(&plan)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("want %s\ngot  %v", test.want, err)
			}
			if found := health.Categorize(err); found.Category != health.InvalidSpec || found.Reason != ReasonPlanTooLarge {
				t.Errorf("category, reason = %s, %s", found.Category, found.Reason)
			}
		})
	}
}

func fill(plan *reconcile.PlanResult, count int) {
	for range count {
		plan.Apply(&corev1.ConfigMap{})
	}
}

func TestBudgetDeadline(t *testing.T) {
	t.Parallel()
	ctx, end := budget{Deadline: time.Nanosecond}.limit(t.Context())
	defer end()
	<-ctx.Done()
	err := late(ctx)
	if found := health.Categorize(err); found.Category != health.Infrastructure || found.Reason != ReasonDeadlineExceeded {
		t.Errorf("category, reason = %s, %s", found.Category, found.Reason)
	}
	if err == nil || !strings.Contains(err.Error(), "longer than its deadline of 1ns") {
		t.Errorf("got %v", err)
	}
	status, stop := toWriteStatus(ctx)
	defer stop()
	if _, limited := status.Deadline(); status.Err() != nil || !limited {
		t.Errorf("the status cannot be written after the deadline: %v", status.Err())
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if err := late(stopped); err != nil {
		t.Errorf("a manager that stops is no deadline: %v", err)
	}
	none, end := budget{Deadline: -1}.limit(t.Context())
	defer end()
	if _, limited := none.Deadline(); limited {
		t.Error("a negative deadline limits")
	}
}
