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

// Group is the owner of children that several objects, its members, determine together. It has a key, which is its
// namespace and name, and is not an object of the cluster. A controller that [NewGroup] declares reconciles groups. The
// controllers of the members read them (see [Builder.Joins]) to report whether their part is applied. Groups are kept in
// memory.
//
//	type Group struct {
//		metav1.TypeMeta
//		metav1.ObjectMeta
//
//		// Status is the result of the last reconciliation of the group. It is kept in memory.
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
//	// Effect reports whether the part of the member is applied; the message describes an error and is empty without one.
//	func (g *Group) Effect(member client.Object) (effect Effect, message string)
type Group = groups.Group

// GroupStatus is the result of the last reconciliation of a group.
//
//	type GroupStatus struct {
//		// Conditions are those of the group's components and their summary Ready.
//		Conditions []metav1.Condition
//		// Members are the members of the reconciliation, sorted by namespace and name.
//		Members []Member
//	}
type GroupStatus = groups.GroupStatus

// Member is a member in a reconciliation of its group.
//
//	type Member struct {
//		// Key is the namespace and name of the object.
//		Key types.NamespacedName
//		// UID is the UID of the object.
//		UID types.UID
//		// Generation is the generation of the object that the group has read.
//		Generation int64
//		// Refused is the reason why the children do not include the member. Empty when they do.
//		Refused string
//	}
type Member = groups.Member

// MemberOf returns the member for an object. A non-nil refused is the reason why the children do not include it.
func MemberOf(object client.Object, refused error) Member { return groups.MemberOf(object, refused) }

// Effect tells whether the part of a member is applied.
//
//	type Effect string
type Effect = groups.Effect

const (
	// EffectNone means that the group has not read the member, or reads it no longer. No child includes it.
	EffectNone Effect = groups.EffectNone
	// EffectPending means that the group has not read the current spec of the member yet.
	EffectPending Effect = groups.EffectPending
	// EffectRefused means that the group refused the member; the message has the reason.
	EffectRefused Effect = groups.EffectRefused
	// EffectFailed means that the children could not be applied; the message has the reason.
	EffectFailed Effect = groups.EffectFailed
	// EffectApplied means that the children are applied and include the member.
	EffectApplied Effect = groups.EffectApplied
)

// GroupOf returns an empty group of the controller with the name, to read into.
func GroupOf(name string) *Group { return groups.Of(name) }

// GroupObservation is the observation of a [Group].
type GroupObservation interface {
	// GetMembers returns the members of the reconciliation, in any order. The plan and the list must not include members
	// that are being deleted.
	GetMembers() []Member
}

// NewGroup starts the declaration of a controller for groups. It reconciles each key: it lists the members and plans the
// children once. The children have no single owner. Declare the kinds of members with [Builder.Members] and those of
// children with [Builder.Owns]. The name is as in [New], and also the kind of the groups.
func NewGroup[R reconcile.Reconciler[*Group, F, O], F any, O GroupObservation](name string, reconciler R) *Builder {
	b := declare(name, typed[*Group, F, O]{reconciler}, GroupOf(name), declaration.Caller())
	b.store = groups.NewStore(name)
	b.decorate = func(owner client.Object, observation any) {
		g, isGroup := owner.(*Group)
		seen, observes := observation.(GroupObservation)
		if !isGroup || !observes { // excluded by the type parameters
			return
		}
		g.Status.Members = seen.GetMembers()
		slices.SortFunc(g.Status.Members, func(a, b Member) int { return tracking.CompareNames(a.Key, b.Key) })
	}
	return b
}

// Members declares a kind of members of a [NewGroup]: keys returns the groups of an object. List the members with
// [FetchMembers].
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

// membersOf selects the members of the group in a list of a kind that was declared with [Builder.Members]. The list is
// sorted by namespace and name and includes members that are being deleted.
func membersOf(g *Group) client.ListOption {
	return client.MatchingFields{groups.MemberField(g.Kind): client.ObjectKeyFromObject(g).String()}
}

// Joins allows FetchRemoteState to read the groups of other controllers of the process, which [NewGroup] or [NewSingleton]
// declares, with [GroupOf] and their key. Each read enqueues the owner when the status of the group changes. Reading a
// group that was never reconciled defers this reconciliation.
func (b *Builder) Joins(of ...*Controller) *Builder {
	b.joins = append(b.joins, of...)
	return b
}
