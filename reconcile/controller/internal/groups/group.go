package groups

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
)

// Group is the owner of children that several objects, its members, determine together. It is a key, with a namespace
// and a name, and no object in the cluster. A controller of groups reconciles them; the controllers of the members read them
// to learn whether their part took effect.
type Group struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	// Status is the result of the group's last pass. It is kept in memory.
	Status GroupStatus

	childKinds []schema.GroupVersionKind
	idle       bool // the pass found no member, child or failure
}

// GroupStatus is the result of a group's pass.
type GroupStatus struct {
	// Conditions are the conditions of the group's components and their summary Ready.
	Conditions []metav1.Condition
	// Members took part in the pass, sorted by namespace and name.
	Members []Member
}

func (s *GroupStatus) equal(other *GroupStatus) bool {
	return slices.Equal(s.Members, other.Members) && slices.EqualFunc(s.Conditions, other.Conditions, func(a, b metav1.Condition) bool {
		sameTime := a.LastTransitionTime.Equal(&b.LastTransitionTime)
		a.LastTransitionTime, b.LastTransitionTime = metav1.Time{}, metav1.Time{}
		return sameTime && a == b
	})
}

// ChildKinds implements [groupkey.Group].
func (g *Group) ChildKinds() []schema.GroupVersionKind { return g.childKinds }

// DeepCopyObject implements [runtime.Object].
func (g *Group) DeepCopyObject() runtime.Object {
	out := *g
	g.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = slices.Clone(g.Status.Conditions)
	out.Status.Members = slices.Clone(g.Status.Members)
	return &out
}

var (
	_ reconcile.Owner = (*Group)(nil)
	_ groupkey.Group  = (*Group)(nil)
)

// Effect returns the effect of the member's part. The message is empty unless there is a problem.
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

// Of returns an empty group of the named controller, for use with Get.
func Of(name string) *Group {
	g := &Group{}
	g.SetGroupVersionKind(gvkOf(name))
	return g
}

func gvkOf(name string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "group", Version: "memory", Kind: name}
}
