package groups

import (
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Member is one object that took part in a pass of its group.
type Member struct {
	// Key is its namespace and name.
	Key types.NamespacedName
	// UID tells it from another object of that name.
	UID types.UID
	// Generation is that of the spec that the group has seen.
	Generation int64
	// Refused reports why its part is left out of the children. Empty when it is in.
	Refused string
}

// MemberOf makes a member of an object; refused, when not nil, is the reason why its part is left out.
func MemberOf(object client.Object, refused error) Member {
	m := Member{Key: client.ObjectKeyFromObject(object), UID: object.GetUID(), Generation: object.GetGeneration()}
	if refused != nil {
		m.Refused = refused.Error()
	}
	return m
}

// Effect is what became of a member's part.
type Effect string

const (
	// EffectNone: the group has not seen the member, or not any more. Its part is in no child.
	EffectNone Effect = "None"
	// EffectPending: the group has not seen the current spec of the member yet.
	EffectPending Effect = "Pending"
	// EffectRefused: the part is left out; the message has the reason.
	EffectRefused Effect = "Refused"
	// EffectFailed: the children could not be made; the message has the reason.
	EffectFailed Effect = "Failed"
	// EffectApplied: the children are as the group wants them, with the part of the member.
	EffectApplied Effect = "Applied"
)

// MemberField is the index by which the members of the groups of a controller are listed.
func MemberField(controller string) string { return "group." + controller }
