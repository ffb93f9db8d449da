// Package since keeps since when a fact holds, so that a plan can act when it has held for a while: scale down what nobody uses, report
// what is missing for too long. The time is kept in an annotation of a child, or of the owner, so that neither a restart nor another
// leader begins the wait anew or ends it.
//
//	var idle = since.Fact{Annotation: "example.com/idle-since", For: time.Minute}
//
//	state := idle.Of(deployment, len(users) == 0, rc.Now) // deployment as it was read; nil where it does not exist
//	if state.Due {
//		desired.Spec.Replicas = ptr.To[int32](0)
//	}
//	state.Mark(desired)
//	plan.Apply(desired, state.Rules())
//	plan.RequeueAt = state.At
//
// A fact that does not hold leaves no annotation. The planned time is sent once and kept ([apply.CreateOnly]): a pass that does not see
// it yet cannot move it.
package since
