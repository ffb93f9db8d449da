package observe

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
	"github.com/reconcilekit/reconcilekit/reconcile/explain"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// notWatched is the reason that package health gives to a read in a namespace that the cache does not cover.
const notWatched = "NamespaceNotWatched"

// groups are owners that are not objects.
type groups interface {
	// Keys returns the groups that have had a pass, in order.
	Keys() []types.NamespacedName
	// Peek returns the group after its last pass, nil if it had none.
	Peek(key types.NamespacedName) client.Object
}

// Explainer explains the owners of one controller after its set-up.
type Explainer struct {
	Reads      *tracked.Reads
	LastPasses *LastPasses
	Joined     func() map[*tracking.Index]string // names of the groups of other controllers that this one reads
	Groups     groups                            // the reconciled groups; nil for owners that are objects
	Pause      string                            // the annotation that pauses an owner
	Flow       dataflow.Description              // the declared dataflow of the controller
	Elected    <-chan struct{}                   // closed when this process leads, or needs no leader election
	Caches     *Caches                           // the caches of the controller
	Triggers   *trigger.Triggers                 // the owners that wait in the queue
	InShard    func(owner client.Object) bool    // reports whether an owner is in the shard of this process; nil without shards
	Shard      string                            // the name of the shard of this process
}

// Explain explains the state of the owner.
func (e *Explainer) Explain(ctx context.Context, key types.NamespacedName) (explain.Owner, error) {
	kind := e.Reads.Kinds[0]
	out := explain.Owner{Controller: e.Reads.Controller, Kind: declaration.Print(kind.GroupVersionKind), Name: strings.TrimPrefix(key.String(), "/")}
	for _, k := range e.Reads.Optional() {
		if k.Absent.Load() {
			out.NotInstalled = append(out.NotInstalled, declaration.Print(k.GroupVersionKind))
		}
	}
	if err := e.unsynced(); err != nil { // a read would wait for the cache, or return nothing
		out.Process, out.Waits = explain.ProcessNotSynced, Safe(err.Error())
		return out, nil
	}
	owner, err := e.owner(ctx, kind, key)
	if err != nil && health.Categorize(err).Reason == notWatched {
		out.Waits = fmt.Sprintf("this process does not watch the namespace %q: check its flag -namespaces", key.Namespace)
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("explain %s: %w", ObjectName(kind.Kind, key), err)
	}
	out.Selection = kind.Selection()
	if owner != nil {
		out.NotSelected = !kind.Reconciles(owner)
		out.Found, out.Paused = true, pipeline.IsPaused(owner, e.Pause)
		out.Deleting = !owner.GetDeletionTimestamp().IsZero()
		for _, c := range e.Reads.Conditions.Get(owner) {
			out.Ready = out.Ready || c.Type == conditions.Ready && c.Status == metav1.ConditionTrue
			out.Conditions = append(out.Conditions, explain.Condition{
				Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime.Time,
			})
		}
	}
	out.Reads, out.MoreReads = e.readsOf(key)
	e.LastPasses.Fill(&out, key)
	e.process(&out, key, owner)
	if e.Reads.Unsummarized {
		out.Ready = out.Found && out.Last != nil && len(out.Causes) == 0
	}
	if out.Found && !out.Ready && !out.Paused && len(out.Causes) == 0 {
		out.Causes = fromConditions(out.Conditions)
	}
	return out, nil
}

// Leads reports whether this process leads, or needs no leader election.
func (e *Explainer) Leads() bool {
	select {
	case <-e.Elected:
		return true
	default:
		return false
	}
}

// unsynced returns an error with the kinds whose caches are not synced, nil if all are.
func (e *Explainer) unsynced() error {
	if err := e.Caches.check(nil); err != nil {
		return fmt.Errorf("the process knows no owners yet: %w", err)
	}
	return nil
}

// process records why this process does not reconcile the owner, which is nil if it is unknown, or what its next reconciliation waits for.
func (e *Explainer) process(out *explain.Owner, key types.NamespacedName, owner client.Object) {
	if !e.Leads() && (out.Found || e.Groups != nil) { // a standby has no groups, but the cache of all owners
		out.Process, out.Waits = explain.ProcessStandby, "this process is on standby: ask the process that holds the lease"
		return
	}
	if e.InShard != nil && (owner == nil || !e.InShard(owner)) {
		out.Process, out.Waits = explain.ProcessOtherShard, fmt.Sprintf("this process has no such owner in its shard %q: ask the processes of the other shards", e.Shard)
		return
	}
	if others, waits := e.Triggers.Waiting(key); waits && out.Waits == "" {
		out.Waits = fmt.Sprintf("an event of the owner waits in the queue, with those of %d other owners", others)
	}
}

// owner returns the owner from the cache, nil if the cache does not have it.
func (e *Explainer) owner(ctx context.Context, k *declaration.Kind, key types.NamespacedName) (client.Object, error) {
	if e.Groups != nil {
		return e.Groups.Peek(key), nil
	}
	object, err := e.Reads.Empty(k)
	if err != nil {
		return nil, err
	}
	found, err := tracked.IgnoreMissing(e.Reads.Cache.Get(ctx, key, object, client.UnsafeDisableDeepCopy))
	if !found || err != nil {
		return nil, err
	}
	return object, nil
}

// fromConditions derives causes from conditions if no pass of this process has recorded any: the components that are not ready, else
// the summary.
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

// readsOf returns the reads of the owner's last pass.
func (e *Explainer) readsOf(owner types.NamespacedName) (reads []explain.Read, more int) {
	names := e.Joined()
	for _, k := range e.Reads.Kinds {
		names[k.Index] = declaration.Print(k.GroupVersionKind)
	}
	found, more := e.Reads.Tracker.Reads(owner, MaxReads)
	for _, r := range found {
		reads = append(reads, explain.Read{Kind: names[r.Index], What: r.What})
	}
	return reads, more
}

// errUnknownKind is the error for a kind that no controller reconciles.
var errUnknownKind = errors.New("no controller reconciles it")

// explainOwners explains an owner, with one entry for each controller of its kind. The kind is a name such as Website, in any case,
// followed by a dot and the group if several groups have the name. The error lists the available kinds.
func explainOwners(ctx context.Context, kind string, owner types.NamespacedName, explainers []*Explainer) ([]explain.Owner, error) {
	var out []explain.Owner
	var known []string
	for _, e := range explainers {
		k := e.Reads.Kinds[0]
		known = append(known, k.Kind)
		if !k.Named(kind) {
			continue
		}
		one, err := e.Explain(ctx, owner)
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
