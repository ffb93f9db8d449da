// Package since records since when a fact has been true, so that a plan can act after a delay: scale down an idle server, report an
// object that is missing for too long. The time is stored in an annotation of a child, or of the owner, so that neither a restart nor
// another leader restarts or ends the delay.
//
//	var idle = since.Fact{Annotation: "example.com/idle-since", For: time.Minute}
//
//	state := idle.Of(deployment, len(users) == 0, rc.Now) // deployment as read; nil if it does not exist
//	if state.Due {
//		desired.Spec.Replicas = ptr.To[int32](0)
//	}
//	state.Mark(desired)
//	plan.Apply(desired, state.Rules())
//	plan.RequeueAt = state.At
//
// The annotation is removed when the fact is false. The time is written once and kept ([apply.CreateOnly]), so that a reconciliation with
// a stale cache cannot move it.
package since
