package models

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Keys lists the models of references, each once.
func Keys[R interface{ Key() types.NamespacedName }](refs []R) []types.NamespacedName {
	var keys []types.NamespacedName
	for _, ref := range refs {
		if key := ref.Key(); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Shared is a model with the members of its group, which have one policy
// together.
type Shared[M client.Object] struct {
	Model
	controller.Members[M]
}

// FetchShared reads the model that the group is for, and its members.
func FetchShared[M client.Object](
	ctx context.Context, r reconcile.Reader, g *controller.Group, into client.ObjectList, check func(M) error,
) Shared[M] {
	return Shared[M]{FetchModel(ctx, r, client.ObjectKeyFromObject(g)), controller.FetchMembers(ctx, r, g, into, check)}
}

// GetComponentHealth keeps the policy as it is while the model has members but
// no route: it is needed again when the route comes back.
func (s *Shared[M]) GetComponentHealth(context.Context) []health.Component {
	if s.Gone() != "" || s.Ref.Value == nil || s.Served() || len(s.GetMembers()) == 0 {
		return nil
	}
	return []health.Component{s.Route.Upstream("", nil)}
}

// Wanted reports whether the model is to have the policy.
func (s *Shared[M]) Wanted() bool { return s.Served() && len(s.Valid) > 0 }

// Names are those of the members that the policy is made of.
func (s *Shared[M]) Names() string {
	var names []string
	for _, member := range s.Valid {
		names = append(names, member.GetName())
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// Part is the part that a member has in the policy of one of its models.
type Part struct {
	Model
	Group  reconcile.FetchResult[*controller.Group]
	Policy reconcile.FetchResult[*unstructured.Unstructured]
}

// Parts are those of a member.
type Parts struct {
	Member client.Object
	List   []Part
}

// FetchParts reads the groups of a member, and their models and policies unless
// the member is being deleted.
func FetchParts(
	ctx context.Context, r reconcile.Reader, member client.Object, models []types.NamespacedName, group string, policy Policy,
) Parts {
	parts := Parts{Member: member}
	for _, key := range models {
		part := Part{Group: reconcile.Fetch(ctx, r, key, controller.GroupOf(group))}
		if member.GetDeletionTimestamp().IsZero() {
			part.Model = FetchModel(ctx, r, key)
			part.Policy = reconcile.Fetch(ctx, r, policy.Key(key), Kind(policy.GVK))
		}
		parts.List = append(parts.List, part)
	}
	return parts
}

// LeaveInterval is how soon an object that is being deleted checks again whether it may go, although events wake it.
const LeaveInterval = 5 * time.Second

// Leave lets a member go that has no part in anything any more.
func (p Parts) Leave() reconcile.PlanResult {
	groups := make([]reconcile.FetchResult[*controller.Group], 0, len(p.List))
	for _, part := range p.List {
		groups = append(groups, part.Group)
	}
	return controller.Leave(p.Member, LeaveInterval, groups...)
}

// Childless are the phases of a reconciler that plans nothing, as what it finds is in the status. W says what a deletion waits
// for.
type Childless[T reconcile.Owner, W interface{ Leave() reconcile.PlanResult }] struct{}

// PlanResources plans nothing.
func (Childless[T, W]) PlanResources(context.Context, reconcile.ReconcileContext[T], W) (reconcile.PlanResult, error) {
	return reconcile.PlanResult{}, nil
}

// Finalize lets the owner go when nothing waits for it.
func (Childless[T, W]) Finalize(_ context.Context, _ reconcile.ReconcileContext[T], w W) (reconcile.PlanResult, error) {
	return w.Leave(), nil
}
