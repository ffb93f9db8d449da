package groups

import (
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Member is one object that took part in a pass of its group.
type Member struct {
	// Key is the namespace and name of the object.
	Key types.NamespacedName
	// UID is the UID of the object.
	UID types.UID
	// Generation is the generation of the spec that the pass used.
	Generation int64
	// Refused is the reason why the part of the member is omitted from the children. Empty if it is included.
	Refused string
}

// MemberOf returns a member for an object. If refused is not nil, it is the reason why its part is omitted.
func MemberOf(object client.Object, refused error) Member {
	m := Member{Key: client.ObjectKeyFromObject(object), UID: object.GetUID(), Generation: object.GetGeneration()}
	if refused != nil {
		m.Refused = refused.Error()
	}
	return m
}

// Effect is the effect of a member's part.
type Effect string

const (
	// EffectNone: the group has not seen the member, or no longer has it. No child has its part.
	EffectNone Effect = "None"
	// EffectPending: the group has not seen the current spec of the member yet.
	EffectPending Effect = "Pending"
	// EffectRefused: the part is omitted; the message has the reason.
	EffectRefused Effect = "Refused"
	// EffectFailed: the children could not be applied; the message has the reason.
	EffectFailed Effect = "Failed"
	// EffectApplied: the children match the group's plan, with the part of the member.
	EffectApplied Effect = "Applied"
)

// MemberField returns the index for the members of a controller's groups.
func MemberField(controller string) string { return "group." + controller }
