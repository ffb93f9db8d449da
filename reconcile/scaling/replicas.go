package scaling

import "github.com/reconcilekit/reconcilekit/reconcile/apply"

// path is the field with the number of pods of a Deployment, a StatefulSet, a ReplicaSet, and of most kinds with a scale subresource.
const path = "spec.replicas"

// Want is the operator's decision.
type Want struct {
	// Replicas is the number of pods without an autoscaler, and the initial number with one. 0 acts like Zero.
	Replicas int32
	// Autoscaled reports whether an autoscaler decides the number. Default false.
	Autoscaled bool
	// Zero scales the workload to zero, also with an autoscaler. Default false.
	Zero bool
}

// Replicas returns the number of pods to plan, and the rules for the field spec.replicas. current is the number in the spec of the
// workload as read, nil if there is none; it may be stale.
func Replicas(current *int32, want Want) (int32, apply.FieldRules) {
	switch {
	case (want.Zero || want.Replicas == 0) && want.Autoscaled:
		return 0, apply.Force(path)
	case want.Zero:
		return 0, nil
	case !want.Autoscaled:
		return want.Replicas, nil
	case current != nil && *current > 0:
		return *current, apply.Seed(path)
	}
	return want.Replicas, apply.Seed(path)
}
