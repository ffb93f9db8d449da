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

// Members are the members of a group that take part in a pass, as [FetchMembers] finds them. An observation that embeds it
// has the list that [GroupObservation] asks for.
type Members[M client.Object] struct {
	// Valid are those whose part belongs into the children, sorted by namespace and name.
	Valid []M
	// Error is that of the read; with one nothing is applied.
	Error error

	all []Member
}

// GetMembers lists all that take part, the refused ones among them.
func (m *Members[M]) GetMembers() []Member { return m.all }

// FetchMembers lists the members of the group into the empty list, whose kind was declared with [Builder.Members]. Members
// that are being deleted take part no more and are left out. An error of check refuses a member: its part is left out of
// the children, and it learns why ([EffectRefused]); a nil check refuses none. Without a group there is an error.
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

// Leave is the plan of a member that is being deleted, for its [reconcile.Finalizer]: it may go when no group counts it any
// more. Until then it looks again after the given time at the latest; its groups wake it earlier. Groups that could not be
// read do not hold it.
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
