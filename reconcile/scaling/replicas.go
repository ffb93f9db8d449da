package scaling

import "github.com/reconcilekit/reconcilekit/reconcile/apply"

// path is the number of pods of a Deployment, a StatefulSet, a ReplicaSet, and of most kinds with a scale subresource.
const path = "spec.replicas"

// Want is what the operator wants.
type Want struct {
	// Replicas is the number of pods without an autoscaler, and with one the number that it starts from, its smallest. Zero is
	// as Zero.
	Replicas int32
	// Autoscaled reports whether an autoscaler decides how many there are. Default false.
	Autoscaled bool
	// Zero stops the workload, also against its autoscaler. Default false.
	Zero bool
}

// Replicas returns the number of pods to plan, and the rules for the field spec.replicas. Current is the number in the spec of the
// workload as it was read, nil where there is none; one that a cache shows too late does no harm.
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
