package pipeline_test

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

type pods = reconcile.ReconcileContext[*corev1.Pod]

// misspelt has a phase that is none.
type misspelt struct{}

func (misspelt) FetchRemoteState(context.Context, reconcile.Reader, pods) struct{} { return struct{}{} }

func (misspelt) PlanResources(context.Context, pods, struct{}) (plan reconcile.PlanResult, _ error) {
	return plan, nil
}

func (misspelt) DecorateStatuses(*corev1.PodStatus, *conditions.Manager, struct{}) {}

// A method whose name is nearly that of a phase would never be called.
func ExampleCheckPhases() {
	text, _, _ := strings.Cut(pipeline.CheckPhases(misspelt{}).Error(), ":")
	fmt.Println(text)
	// Output:
	// method DecorateStatuses of pipeline_test.misspelt looks like the phase DecorateStatus under another name
}
