package decide

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/inventory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/ownership"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// Child finds out what has to be sent for a child, in stages: the object is
// read, and what is remembered of it; both may settle the child already. Then it
// has to be one that may be written, and what is planned of it is compared with
// what it is. In the common case nothing has to be sent, and the resourceVersion
// and the hash of the intent say so.
func Child(p *pass.Pass, c *pass.Child) {
	if c.Result.Outcome != "" {
		return
	}
	c.Result.Outcome, c.Result.Reason = apply.OutcomeUnchanged, apply.ReasonUpToDate
	if err := readCached(p, c); err != nil {
		c.Fail(apply.OutcomeFailed, apply.ReasonReadFailed, err)
		return
	}
	recall(p, c)
	if c.Recall.Hidden {
		if waits(p, c) {
			return
		}
		if err := readLive(p, c); err != nil {
			c.Fail(apply.OutcomeFailed, apply.ReasonReadFailed, err)
			return
		}
	}
	switch r := &c.Recall; {
	case c.Live == nil:
		decideMissing(p, c)
	case r.Same && r.Contest == nil:
		noteShape(p, c)
	case r.Same && r.Held != nil:
		c.Contested = r.Held.Fields
		EndUnchanged(p, c)
	case !c.Fresh && c.Planned.Mode != apply.Once && !hasManagedFields(c.Live):
		decideStripped(p, c)
	default:
		decideExisting(p, c)
	}
}

// recall recalls what matters for the object that was read.
func recall(p *pass.Pass, c *pass.Child) {
	c.Recall = c.Memory.Recall(c.Live, memory.Look{
		Intent: c.Hash, Now: p.Now, Deadline: p.Env.Options.LagDeadline, Trust: p.Env.Options.ContestInterval, Live: c.Fresh,
	})
}

func readCached(p *pass.Pass, c *pass.Child) error {
	if c == p.OwnerChild {
		c.Live = inventory.OwnerMetadata(p)
		return nil
	}
	o := c.Kind.NewObject()
	err := p.Env.Client.Get(p.Ctx, c.ID.Key, o, p.Env.Cached...)
	return got(c, o, err)
}

// readLive reads the object from the API server, and remembers that it is no
// older than that, for a cache that does not show it yet.
func readLive(p *pass.Pass, c *pass.Child) error {
	c.Free()
	c.Fresh, c.SentOnce = true, nil
	c.Memory.Shown()
	o := c.Kind.NewObject()
	err := got(c, o, p.Env.Live.Get(p.Ctx, c.ID.Key, o))
	if c == p.OwnerChild && c.Live != nil && c.Live.GetUID() != p.Owner.GetUID() {
		c.Live = nil // another one of the name
	}
	if c.Live != nil {
		c.Memory.Read(c.Live, p.Now)
	}
	recall(p, c)
	return err
}

func got(c *pass.Child, o client.Object, err error) error {
	if err == nil {
		c.Live = o
		return nil
	}
	c.Kind.Release(o)
	return client.IgnoreNotFound(err)
}

// waits handles a cache that does not show our last write yet. It reports
// whether the child is settled for this pass. A plan that has changed since is
// decided about with what the API server has.
func waits(p *pass.Pass, c *pass.Child) bool {
	r := &c.Recall
	if r.Wait <= 0 || !r.Proven {
		return false
	}
	c.Requeue, c.Result.Reason = r.Wait, apply.ReasonStaleCache
	if r.Contest != nil {
		c.Contested = r.Contest.Fields
		ReportContest(p, c)
	}
	return true
}

// decideStripped decides about a child of which the cache shows no
// managedFields. While what the cache does show of the planned fields is what
// it was when they were last looked at, that stands; otherwise they are looked
// at live. What the cache strips is not repaired before that.
func decideStripped(p *pass.Pass, c *pass.Child) {
	if terminating(p, c) {
		return
	}
	m := c.Memory
	if c.Recall.Failed {
		if f := m.RefusedIn(c.Live.GetResourceVersion()); f != nil && failedBefore(p, c, f.UID, f.Others) {
			return
		}
	}
	seen, err := shape(p, c)
	if err != nil {
		c.Fail(apply.OutcomeFailed, apply.ReasonInvalid, err)
		return
	}
	version := c.Live.GetResourceVersion()
	if m.ProvesShape(c.Hash, seen) {
		m.StillIn(version)
		return
	}
	if Live(p, c); c.Live == nil {
		return
	}
	noteStripped(p, c)
	if m.Proven() && c.Action == pass.ActionNone && c.Live.GetResourceVersion() == version {
		m.Shows(seen)
		m.Shown()
	}
}

// noteShape remembers what a cache that strips managedFields shows of what has
// just been applied.
func noteShape(p *pass.Pass, c *pass.Child) {
	if c.Planned.Mode == apply.Once || c.Memory.ShapeKnown() || hasManagedFields(c.Live) {
		return
	}
	if seen, err := shape(p, c); err == nil {
		c.Memory.Shows(seen)
	}
}

// hasManagedFields reports whether an object has managedFields. Those of an unstructured object are not decoded for it.
func hasManagedFields(o client.Object) bool {
	if u, ok := o.(*unstructured.Unstructured); ok {
		entries, _, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "managedFields")
		list, _ := entries.([]any)
		return len(list) > 0
	}
	return len(o.GetManagedFields()) > 0
}

// shape is the hash of the live values at the paths of the intent.
func shape(p *pass.Pass, c *pass.Child) (uint64, error) {
	content, err := compile(p, c)
	if err != nil {
		return 0, err
	}
	live, err := p.Env.Encoder.Live(c.Live)
	if err != nil {
		return 0, fmt.Errorf("encode the live object: %w", err)
	}
	NoteUnwanted(c, live)
	return p.Env.Hasher.Shape(c.Kind.Schema, content, live) + uint64(len(c.Unwanted)), nil
}

// noteStripped reports once that the cache strips the managedFields that the API
// server has.
func noteStripped(p *pass.Pass, c *pass.Child) {
	if len(c.Live.GetManagedFields()) == 0 {
		return
	}
	if _, known := p.Env.Stripped.LoadOrStore(c.Kind, struct{}{}); !known {
		log.FromContext(p.Ctx).Info("the cache strips managedFields: drift of what it strips besides is not seen, and after a start "+
			"and after each write one read per child goes to the API server; the transform of this package keeps what is needed",
			"kind", c.Kind.GVK.String())
	}
}

func decideMissing(p *pass.Pass, c *pass.Child) {
	if deletedByOthers(p, c) || failedBefore(p, c, "", 0) {
		return
	}
	c.Result.Reason = apply.ReasonMissing
	switch c.Planned.Mode {
	case apply.Contribute:
		c.Fail(apply.OutcomeBlocked, apply.ReasonMissing, apierrors.NewNotFound(resourceOf(c.Kind.GVK), c.ID.Key.Name))
		return
	case apply.Once:
		if !c.Planned.Existing {
			prepare(c, p, pass.ActionCreate, apply.ReasonMissing)
		}
		return
	case apply.Own, apply.Shared, apply.Retained:
	}
	if p.Dry && !c.Fresh {
		Live(p, c) // a write would find out
		return
	}
	prepare(c, p, pass.ActionApply, apply.ReasonMissing)
}

// failedBefore reports that the same request has failed before and would fail again.
func failedBefore(p *pass.Pass, c *pass.Child, uid types.UID, others uint64) bool {
	if !c.Recall.Failed {
		return false
	}
	f := c.Memory.FailedIn(memory.Situation{Intent: c.Hash, UID: uid, Others: others}, p.Now)
	if f == nil || allowedSince(p, f.Err) {
		return false
	}
	c.Fail(f.Outcome, apply.ReasonBackoff, f.Err)
	c.Requeue = f.Until.Sub(p.Now)
	return true
}

// allowedSince reports whether the owner allows by now what was not allowed then.
func allowedSince(p *pass.Pass, err error) bool {
	var blocked *apply.RecreateBlockedError
	return errors.As(err, &blocked) && blocked.Token == p.AllowPrune
}

// decideExisting looks at an object that has changed, or that is new to us.
func decideExisting(p *pass.Pass, c *pass.Child) {
	if terminating(p, c) {
		return
	}
	if !ownership.Claim(p, c) {
		return
	}
	if c.Planned.Mode == apply.Once {
		c.Result.Reason = apply.ReasonExists
		if unmarked(p, c) {
			return
		}
		c.Memory.Accept(c.Hash, c.Live.GetResourceVersion())
		return
	}
	if c.Recall.Failed && failedBefore(p, c, c.UID, OtherManagers(p.Env.Hasher, c)) {
		return
	}
	prove(p, c)
	if first := !c.Recall.Known && !c.Reach; first && c.Action != pass.ActionNone && c.Action != pass.ActionCreate {
		ownership.VerifyFirstWrite(p, c)
	}
}

// terminating reports that the object is being deleted, by us or by others. It is
// applied again when it is gone.
func terminating(p *pass.Pass, c *pass.Child) bool {
	if !c.Recall.Deleted && (c.Live.GetDeletionTimestamp() == nil || partOf(p, c)) {
		return false
	}
	c.Result.Outcome, c.Result.Reason, c.Requeue = apply.OutcomeBlocked, apply.ReasonTerminating, pass.ConfirmAfter
	if c.Live.GetDeletionTimestamp() != nil {
		c.Result.Finalizers = slices.Clone(c.Live.GetFinalizers())
	}
	c.Memory.ForgetProof()
	return true
}

// partOf reports whether the child is a part of another object than the owner, which stays planned while that object is being
// deleted.
func partOf(p *pass.Pass, c *pass.Child) bool {
	return c.Planned.Mode == apply.Contribute && c != p.OwnerChild
}

// prepare compiles the intent for a request.
func prepare(c *pass.Child, p *pass.Pass, a pass.Action, why apply.Reason) {
	if c.Content == nil {
		content, err := compile(p, c)
		if err != nil {
			c.Fail(apply.OutcomeFailed, apply.ReasonInvalid, err)
			return
		}
		c.Content = content
	}
	c.Action, c.Result.Reason = a, why
}

func resourceOf(gvk schema.GroupVersionKind) schema.GroupResource {
	return schema.GroupResource{Group: gvk.Group, Resource: strings.ToLower(gvk.Kind)}
}
