package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/explain"
)

// explainer answers for one controller that was set up.
type explainer struct {
	reads  *tracked.Reads
	recall *observe.LastPasses
	joined *joinedGroups
	board  *board // of groups, nil for owners that are objects
	pause  string
}

// Explain reports why the owner is as it is: what is known of its last passes, with what the cache has of it. It sends no request. The
// error is that of a controller that was not set up, or of the cache; an owner that does not exist is not Found.
func (b *Builder[T, F, O]) Explain(ctx context.Context, owner types.NamespacedName) (explain.Owner, error) {
	if b.explainer == nil {
		return explain.Owner{}, fmt.Errorf("controller %q: explain %s: call SetupWithManager first", b.name, owner)
	}
	return b.explainer.explain(ctx, b.name, owner)
}

func (e *explainer) explain(ctx context.Context, controller string, key types.NamespacedName) (explain.Owner, error) {
	kind := e.reads.Kinds[0]
	out := explain.Owner{Controller: controller, Kind: declaration.Print(kind.GroupVersionKind), Name: strings.TrimPrefix(key.String(), "/")}
	owner, err := e.owner(ctx, kind, key)
	if err != nil {
		return out, fmt.Errorf("explain %s: %w", observe.ObjectName(kind.Kind, key), err)
	}
	if owner != nil {
		out.Found, out.Paused = true, reconcile.IsPaused(owner, e.pause)
		out.Deleting = !owner.GetDeletionTimestamp().IsZero()
		for _, c := range owner.GetConditions() {
			out.Ready = out.Ready || c.Type == conditions.Ready && c.Status == metav1.ConditionTrue
			out.Conditions = append(out.Conditions, explain.Condition{
				Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime.Time,
			})
		}
	}
	out.Reads, out.MoreReads = e.readsOf(key)
	e.recall.Fill(&out, key)
	if out.Found && !out.Ready && !out.Paused && len(out.Causes) == 0 {
		out.Causes = fromConditions(out.Conditions)
	}
	return out, nil
}

// owner is the owner as the cache has it, nil when it does not.
func (e *explainer) owner(ctx context.Context, k *declaration.Kind, key types.NamespacedName) (reconcile.Owner, error) {
	if e.board != nil {
		if g := e.board.peek(key); g != nil {
			return g, nil
		}
		return nil, nil //nolint:nilnil // see above
	}
	object, err := e.reads.Empty(k)
	if err != nil {
		return nil, err
	}
	found, err := tracked.IgnoreMissing(e.reads.Cache.Get(ctx, key, object, client.UnsafeDisableDeepCopy))
	owner, _ := object.(reconcile.Owner)
	if !found || err != nil {
		return nil, err
	}
	return owner, nil
}

// fromConditions are the causes where no pass of this process knows any: the parts that are not ready, else the summary.
func fromConditions(list []explain.Condition) []explain.Cause {
	var parts, summary []explain.Cause
	for _, c := range list {
		part, ends := strings.CutSuffix(c.Type, conditions.Ready)
		if c.Status == string(metav1.ConditionTrue) || !ends {
			continue
		}
		cause := explain.Cause{Subject: part, Reason: c.Reason, Message: c.Message}
		if part == "" {
			summary = append(summary, cause)
		} else {
			parts = append(parts, cause)
		}
	}
	if len(parts) == 0 {
		return summary
	}
	return parts
}

// readsOf are the reads of the owner's last pass.
func (e *explainer) readsOf(owner types.NamespacedName) (reads []explain.Read, more int) {
	names := map[*tracking.Index]string{}
	for _, k := range e.reads.Kinds {
		names[k.Index] = declaration.Print(k.GroupVersionKind)
	}
	for _, joined := range e.joined.reads {
		names[joined.index] = "group of controller " + joined.board.name
	}
	found, more := e.reads.Tracker.Reads(owner, observe.MaxReads)
	for _, r := range found {
		reads = append(reads, explain.Read{Kind: names[r.Index], What: r.What})
	}
	return reads, more
}

// peek returns the group as its last pass left it, nil when there was none.
func (b *board) peek(key types.NamespacedName) *Group {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := b.groups[key]
	if found == nil {
		return nil
	}
	return found.DeepCopyObject().(*Group) //nolint:forcetypeassert // a deep copy has the type of its original
}

// errUnknownKind is that no controller reconciles a kind.
var errUnknownKind = errors.New("no controller reconciles it")

// Explain reports what the controllers know of an owner, one entry for each controller of its kind. The kind is a name such as Website, in
// any case, with the group after a dot where several have it. The error names the kinds that there are.
func Explain(
	ctx context.Context, kind string, owner types.NamespacedName, controllers ...Declared,
) ([]explain.Owner, error) {
	var out []explain.Owner
	var known []string
	for _, c := range controllers {
		e := c.explains()
		if e == nil {
			continue
		}
		k := e.reads.Kinds[0]
		known = append(known, k.Kind)
		if !k.Named(kind) {
			continue
		}
		one, err := e.explain(ctx, e.reads.Controller, owner)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("explain kind %q: %w; there are: %s", kind, errUnknownKind, strings.Join(known, ", "))
	}
	return out, nil
}
