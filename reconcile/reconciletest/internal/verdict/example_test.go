package verdict_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/verdict"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

func Example() {
	judge := verdict.New(description.Prepared{System: description.System{Outlives: []string{"PersistentVolumeClaim default/*"}}})
	judge.Expect(description.StepB, world.State{"Deployment default/web": {"spec": map[string]any{"replicas": int64(2)}}})
	judge.Compare("A-B: events doubled", description.StepB, world.State{
		"Deployment default/web":             {"spec": map[string]any{"replicas": int64(1)}},
		"PersistentVolumeClaim default/data": {},
		"Secret default/web":                 {},
	})
	for _, found := range judge.Findings() {
		fmt.Println(found)
	}
	// Output:
	// [orphan] A-B: events doubled: the run without faults ends without Secret default/web
	// [state] A-B: events doubled: not the end of the run without faults:
	// Deployment default/web: spec.replicas: want 2, got 1
}
