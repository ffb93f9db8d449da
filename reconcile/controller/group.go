package controller

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/groups"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
)

// Group is the owner of children that several objects, its members, determine together: a key, which is its namespace
// and name, and nothing in the cluster. A controller made with [NewGroup] reconciles groups; the controllers of the
// members read them (see [Builder.Joins]) to learn whether their part took effect. It is kept in memory.
//
//	type Group struct {
//		metav1.TypeMeta
//		metav1.ObjectMeta
//
//		// Status is what the last pass of the group found. It is kept in memory.
//		Status GroupStatus
//		// contains filtered or unexported fields
//	}
//
//	// ChildKinds implements [groupkey.Group].
//	func (g *Group) ChildKinds() []schema.GroupVersionKind
//
//	// DeepCopyObject implements [runtime.Object].
//	func (g *Group) DeepCopyObject() runtime.Object
//
//	// Effect reports what became of the part of the member; the message is empty unless something is wrong.
//	func (g *Group) Effect(member client.Object) (effect Effect, message string)
type Group = groups.Group

// GroupStatus is what a pass of a group found.
//
//	type GroupStatus struct {
//		// Conditions are those of the group's components and their summary Ready.
//		Conditions []metav1.Condition
//		// Members took part in the pass, sorted by namespace and name.
//		Members []Member
//	}
type GroupStatus = groups.GroupStatus

// Member is one object that took part in a pass of its group.
//
//	type Member struct {
//		// Key is its namespace and name.
//		Key types.NamespacedName
//		// UID tells it from another object of that name.
//		UID types.UID
//		// Generation is that of the spec that the group has seen.
//		Generation int64
//		// Refused reports why its part is left out of the children. Empty when it is in.
//		Refused string
//	}
type Member = groups.Member

// MemberOf makes a member of an object; refused, when not nil, is the reason why its part is left out.
func MemberOf(object client.Object, refused error) Member { return groups.MemberOf(object, refused) }

// Effect is what became of a member's part.
//
//	type Effect string
type Effect = groups.Effect

const (
	// EffectNone: the group has not seen the member, or not any more. Its part is in no child.
	EffectNone Effect = groups.EffectNone
	// EffectPending: the group has not seen the current spec of the member yet.
	EffectPending Effect = groups.EffectPending
	// EffectRefused: the part is left out; the message has the reason.
	EffectRefused Effect = groups.EffectRefused
	// EffectFailed: the children could not be made; the message has the reason.
	EffectFailed Effect = groups.EffectFailed
	// EffectApplied: the children are as the group wants them, with the part of the member.
	EffectApplied Effect = groups.EffectApplied
)

// GroupOf returns an empty group of the controller of that name, to read into.
func GroupOf(name string) *Group { return groups.Of(name) }

// GroupObservation is the observation of a [Group].
type GroupObservation interface {
	// GetMembers returns the members that took part, in any order. Members that are being deleted take part no more:
	// leave them out of the plan and out of this list.
	GetMembers() []Member
}

// NewGroup starts the declaration of a controller for groups: a pass for each key, in which the members are listed, the
// children planned once, and applied without belonging to a single member. Declare the kinds of members with
// [Builder.Members] and those of children with [Builder.Owns]. The name is as in [New], and also the kind of the groups.
func NewGroup[R reconcile.Reconciler[*Group, F, O], F any, O GroupObservation](name string, reconciler R) *Builder {
	b := declare(name, typed[*Group, F, O]{reconciler}, GroupOf(name), declaration.Caller())
	b.store = groups.NewStore(name)
	b.decorate = func(owner client.Object, observation any) {
		g, isGroup := owner.(*Group)
		seen, observes := observation.(GroupObservation)
		if !isGroup || !observes { // the types of the function exclude it
			return
		}
		g.Status.Members = seen.GetMembers()
		slices.SortFunc(g.Status.Members, func(a, b Member) int { return tracking.CompareNames(a.Key, b.Key) })
	}
	return b
}

// Members declares a kind of members of a [NewGroup]: keys returns the groups that an object belongs to. In a pass the
// members are listed with [FetchMembers].
func (b *Builder) Members(
	object client.Object, keys func(client.Object) []types.NamespacedName, options ...KindOption,
) *Builder {
	index := Index(groups.MemberField(b.name), func(o client.Object) []string {
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
	return client.MatchingFields{groups.MemberField(g.Kind): client.ObjectKeyFromObject(g).String()}
}

// Joins lets FetchRemoteState read the groups of other controllers of the process, made by [NewGroup] or [NewSingleton], with [GroupOf] and
// their key: each read enqueues the owner when the status of the group changes. Reading a group that was never reconciled defers this
// reconciliation.
func (b *Builder) Joins(of ...*Controller) *Builder {
	b.joins = append(b.joins, of...)
	return b
}
