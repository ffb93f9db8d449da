package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile"
)

// Members are the members of a group in a reconciliation, as [FetchMembers] returns them. An observation that embeds
// Members implements [GroupObservation].
type Members[M client.Object] struct {
	// Valid are the members that the children include, sorted by namespace and name.
	Valid []M
	// Error is the error of the read. When it is not nil, nothing is applied.
	Error error

	all []Member
}

// GetMembers returns all members, including the refused ones.
func (m *Members[M]) GetMembers() []Member { return m.all }

// FetchMembers lists the members of the group into the empty list, whose kind [Builder.Members] declares. It leaves out
// members that are being deleted. An error of check refuses a member: Valid does not contain it, and its status is
// [EffectRefused] with the error. A nil check accepts all members. A nil group is an error.
func FetchMembers[M client.Object](
	ctx context.Context, r reconcile.Reader, g *Group, into client.ObjectList, check func(M) error,
) Members[M] {
	var m Members[M]
	switch {
	case g == nil:
		m.Error = errors.New("members of no group: FetchMembers wants the group of the pass, ReconcileContext.Object")
		return m
	case into == nil:
		m.Error = fmt.Errorf("members of %s: FetchMembers wants an empty list to read into, got nil", g.Kind)
		return m
	}
	if m.Error = r.List(ctx, into, membersOf(g)); m.Error != nil {
		return m
	}
	m.Error = meta.EachListItem(into, func(item runtime.Object) error {
		member, ok := item.(M)
		if !ok {
			return fmt.Errorf("members of %s: want items of type %T in %T, got %T", g.Kind, member, into, item)
		}
		if !member.GetDeletionTimestamp().IsZero() {
			return nil
		}
		var refused error
		if check != nil {
			refused = check(member)
		}
		m.all = append(m.all, MemberOf(member, refused))
		if refused == nil {
			m.Valid = append(m.Valid, member)
		}
		return nil
	})
	return m
}

// Leave returns the plan of a member that is being deleted, for its [reconcile.Finalizer]. It requeues the member after the
// duration look until no group includes it; a change of a group enqueues it earlier. Groups that could not be read are
// ignored.
func Leave(member client.Object, look time.Duration, groups ...reconcile.FetchResult[*Group]) reconcile.PlanResult {
	var plan reconcile.PlanResult
	for _, g := range groups {
		if !g.OK() || g.Value == nil {
			continue
		}
		if effect, _ := g.Value.Effect(member); effect != EffectNone {
			plan.RequeueAfter = look
		}
	}
	return plan
}
