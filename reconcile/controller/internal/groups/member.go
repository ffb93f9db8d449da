package groups

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// Effect reports what became of the part of the member; the message is empty unless something is wrong.
func (g *Group) Effect(member client.Object) (effect Effect, message string) {
	at := slices.IndexFunc(g.Status.Members, func(m Member) bool { return m.UID == member.GetUID() })
	if at < 0 {
		return EffectNone, ""
	}
	m := g.Status.Members[at]
	if m.Generation < member.GetGeneration() {
		return EffectPending, ""
	}
	if m.Refused != "" {
		return EffectRefused, m.Refused
	}
	for i := range g.Status.Conditions {
		if c := &g.Status.Conditions[i]; c.Type == "Ready" && c.Status == metav1.ConditionFalse {
			return EffectFailed, c.Message
		}
	}
	return EffectApplied, ""
}

// MemberField is the index by which the members of the groups of a controller are listed.
func MemberField(controller string) string { return "group." + controller }
