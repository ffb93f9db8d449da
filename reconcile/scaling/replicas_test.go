package scaling_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/scaling"
)

func Example() {
	autoscaled := scaling.Want{Replicas: 2, Autoscaled: true}
	stopped := autoscaled
	stopped.Zero = true
	for _, step := range []struct {
		what    string
		current int32
		want    scaling.Want
	}{
		{"made", 0, autoscaled},
		{"scaled by the autoscaler", 5, autoscaled},
		{"stopped", 5, stopped},
		{"restarted", 0, autoscaled},
		{"the autoscaler is deleted", 4, scaling.Want{Replicas: 2}},
	} {
		replicas, _ := scaling.Replicas(&step.current, step.want)
		fmt.Println(step.what, replicas)
	}
	// Output:
	// made 2
	// scaled by the autoscaler 5
	// stopped 0
	// restarted 2
	// the autoscaler is deleted 2
}

func TestReplicas(t *testing.T) {
	t.Parallel()
	five, none := int32(5), int32(0)
	seed, force := apply.Seed("spec.replicas"), apply.Force("spec.replicas")
	for name, test := range map[string]struct {
		current *int32
		want    scaling.Want
		number  int32
		rules   apply.FieldRules
	}{
		"no workload":                {nil, scaling.Want{Replicas: 2, Autoscaled: true}, 2, seed},
		"from zero":                  {&none, scaling.Want{Replicas: 2, Autoscaled: true}, 2, seed},
		"as the autoscaler sets it":  {&five, scaling.Want{Replicas: 2, Autoscaled: true}, 5, seed},
		"stopped":                    {&five, scaling.Want{Replicas: 2, Autoscaled: true, Zero: true}, 0, force},
		"zero desired":               {&five, scaling.Want{Autoscaled: true}, 0, force},
		"without an autoscaler":      {&five, scaling.Want{Replicas: 2}, 2, nil},
		"stopped without autoscaler": {&five, scaling.Want{Replicas: 2, Zero: true}, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			number, rules := scaling.Replicas(test.current, test.want)
			if number != test.number || cmp.Diff(test.rules, rules) != "" {
				t.Errorf("got %d %v, want %d %v", number, rules, test.number, test.rules)
			}
		})
	}
}
