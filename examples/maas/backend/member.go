package backend

import (
	"context"
	"slices"
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

// Part is the part that a member has in the policy of one of its models.
type Part struct {
	Model
	Group  reconcile.FetchResult[*controller.Group]
	Policy reconcile.FetchResult[*unstructured.Unstructured]
}

// FetchParts reads the groups of a member, and their models and policies unless
// the member is being deleted.
func FetchParts(
	ctx context.Context, r reconcile.Reader, member client.Object, models []types.NamespacedName, group string, policy Policy,
) []Part {
	parts := make([]Part, 0, len(models))
	for _, key := range models {
		part := Part{Group: reconcile.Fetch(ctx, r, key, controller.GroupOf(group))}
		if member.GetDeletionTimestamp().IsZero() {
			part.Model = FetchModel(ctx, r, key)
			part.Policy = reconcile.Fetch(ctx, r, policy.Key(key), Kind(policy.GVK))
		}
		parts = append(parts, part)
	}
	return parts
}

// look is how soon a member that is being deleted looks again whether its part
// is withdrawn, although the groups wake it.
const look = 5 * time.Second

// Leave lets a member go that has no part in anything any more.
func Leave(member client.Object, parts []Part) reconcile.PlanResult {
	groups := make([]reconcile.FetchResult[*controller.Group], 0, len(parts))
	for _, part := range parts {
		groups = append(groups, part.Group)
	}
	return controller.Leave(member, look, groups...)
}
