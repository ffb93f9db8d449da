package controller

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/groupkey"
)

// Group is the owner of children that several objects, its members, determine together: a key, which is its namespace
// and name, and nothing in the cluster. A controller made with [NewGroup] reconciles groups; the controllers of the
// members read them (see [Builder.Joins]) to learn whether their part took effect.
type Group struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	// Status is what the last pass of the group found. It is kept in memory.
	Status GroupStatus

	childKinds []schema.GroupVersionKind
	idle       bool // the pass found no member, child or failure
}

// GroupStatus is what a pass of a group found.
type GroupStatus struct {
	// Conditions are those of the group's components and their summary Ready.
	Conditions []metav1.Condition
	// Members took part in the pass, sorted by namespace and name.
	Members []Member
}

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

// GroupOf returns an empty group of the controller of that name, to read into.
func GroupOf(name string) *Group {
	g := &Group{}
	g.SetGroupVersionKind(groupGVK(name))
	return g
}

func groupGVK(name string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "group", Version: "memory", Kind: name}
}

// GroupObservation is the observation of a [Group].
type GroupObservation interface {
	// GetMembers returns the members that took part, in any order. Members that are being deleted take part no more:
	// leave them out of the plan and out of this list.
	GetMembers() []Member
}

// NewGroup starts the declaration of a controller for groups: a pass for each key, in which the members are listed, the
// children planned once, and applied without belonging to a single member. Declare the kinds of members with
// [Builder.Members] and those of children with [Builder.Owns]. The name is as in [New], and also the kind of the groups.
func NewGroup[R reconcile.Reconciler[*Group, F, O], F any, O GroupObservation](name string, reconciler R) *Builder[*Group, F, O] {
	b := &Builder[*Group, F, O]{name: name, reconciler: reconciler, failed: &observe.ListFailures{}}
	b.store = newGroupStore(name)
	b.declare(declaration.PurposeFor, declaration.Caller(), GroupOf(name), nil)
	b.decorate = func(g *Group, _ *conditions.Manager, observation O) {
		g.Status.Members = observation.GetMembers()
		slices.SortFunc(g.Status.Members, func(a, b Member) int { return tracking.CompareNames(a.Key, b.Key) })
	}
	return b
}

// Members declares a kind of members of a [NewGroup]: keys returns the groups that an object belongs to. In a pass the
// members are listed with [FetchMembers].
func (b *Builder[T, F, O]) Members(
	object client.Object, keys func(client.Object) []types.NamespacedName, options ...KindOption,
) *Builder[T, F, O] {
	index := Index(memberField(b.name), func(o client.Object) []string {
		var values []string
		for _, key := range keys(o) {
			values = append(values, key.String())
		}
		return values
	})
	b.declare(declaration.PurposeWatches, declaration.Caller(), object, append(options[:len(options):len(options)], index)).Mapping = func(
		_ context.Context, o client.Object,
	) []ctrl.Request {
		var requests []ctrl.Request
		for _, key := range keys(o) {
			requests = append(requests, ctrl.Request{NamespacedName: key})
		}
		return requests
	}
	return b
}

// membersOf selects the members of the group in a list of a kind that was declared with [Builder.Members]. The list
// comes sorted by namespace and name, with members that are being deleted.
func membersOf(g *Group) client.ListOption {
	return client.MatchingFields{memberField(g.Kind): client.ObjectKeyFromObject(g).String()}
}

func memberField(name string) string { return "group." + name }

// Joins lets FetchRemoteState read the groups of other controllers of the process with [GroupOf], by their key: each
// read wakes the owner when the status of the group changes. A group that had no pass yet puts the pass off.
func (b *Builder[T, F, O]) Joins(groups ...Grouped) *Builder[T, F, O] {
	for _, g := range groups {
		b.joins = append(b.joins, g.groups())
	}
	return b
}

// Grouped is a [Builder] made by [NewGroup].
type Grouped interface{ groups() *groupStore }

func (b *Builder[T, F, O]) groups() *groupStore { return b.store }

// OfChild returns the keys of the groups that the object is a child of, or that share it.
func (b *groupStore) OfChild(object client.Object) (keys []types.NamespacedName) {
	for _, value := range groupkey.Values(object) {
		rest, _ := strings.CutPrefix(value, b.name+"/")
		var key types.NamespacedName
		var ok bool
		if key.Namespace, key.Name, ok = strings.Cut(rest, "/"); ok && rest != value {
			keys = append(keys, key)
		}
	}
	return keys
}
