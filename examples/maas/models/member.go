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

// Keys lists the models of references without duplicates.
func Keys[R interface{ Key() types.NamespacedName }](refs []R) []types.NamespacedName {
	var keys []types.NamespacedName
	for _, ref := range refs {
		if key := ref.Key(); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Shared is a model with the members of its group. The members share one policy.
type Shared[M client.Object] struct {
	Model
	controller.Members[M]
}

// FetchShared reads the model of the group, and its members.
func FetchShared[M client.Object](
	ctx context.Context, r reconcile.Reader, g *controller.Group, into client.ObjectList, check func(M) error,
) Shared[M] {
	return Shared[M]{FetchModel(ctx, r, client.ObjectKeyFromObject(g)), controller.FetchMembers(ctx, r, g, into, check)}
}

// GetComponentHealth keeps the policy as it is while the model has members but no route, because the policy is needed again when the
// route returns.
func (s *Shared[M]) GetComponentHealth(context.Context) []health.Component {
	if s.Gone() != "" || s.Ref.Value == nil || s.Served() || len(s.GetMembers()) == 0 {
		return nil
	}
	return []health.Component{s.Route.Upstream("", nil)}
}

// Wanted reports whether the model needs the policy.
func (s *Shared[M]) Wanted() bool { return s.Served() && len(s.Valid) > 0 }

// Names returns the names of the members that contribute to the policy.
func (s *Shared[M]) Names() string {
	var names []string
	for _, member := range s.Valid {
		names = append(names, member.GetName())
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// Part is the contribution of a member to the policy of one of its models.
type Part struct {
	Model
	Group  reconcile.FetchResult[*controller.Group]
	Policy reconcile.FetchResult[*unstructured.Unstructured]
}

// Parts are the contributions of one member.
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

// LeaveInterval is how often an object that is being deleted checks whether its finalizer can be removed, in addition to events.
const LeaveInterval = 5 * time.Second

// Leave blocks the deletion of a member until it contributes to no policy.
func (p Parts) Leave() reconcile.PlanResult {
	groups := make([]reconcile.FetchResult[*controller.Group], 0, len(p.List))
	for _, part := range p.List {
		groups = append(groups, part.Group)
	}
	return controller.Leave(p.Member, LeaveInterval, groups...)
}

// Childless implements the phases of a reconciler that plans nothing and reports its result in the status. W decides whether a
// deletion waits.
type Childless[T reconcile.Owner, W interface{ Leave() reconcile.PlanResult }] struct{}

// PlanResources plans nothing.
func (Childless[T, W]) PlanResources(context.Context, reconcile.ReconcileContext[T], W) (reconcile.PlanResult, error) {
	return reconcile.PlanResult{}, nil
}

// Finalize returns the plan of [W.Leave].
func (Childless[T, W]) Finalize(_ context.Context, _ reconcile.ReconcileContext[T], w W) (reconcile.PlanResult, error) {
	return w.Leave(), nil
}
