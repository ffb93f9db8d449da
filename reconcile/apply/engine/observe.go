package engine

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// plannedChild is a planned child with what follows from the plan alone.
type plannedChild struct {
	planned *apply.Child
	kind    *intent.Kind
	id      applyset.ObjectID
	hash    uint64
	// member reports that the child carries the part-of label.
	member bool
	// reach reports that an owner reference from owner to child is possible.
	reach bool
	// manager is the field manager of the child's applies.
	manager string
	// ofOwner reports that the child is the planned metadata of the owner.
	ofOwner bool
	// after is the annotation with the objects that the child comes after, empty for none.
	after string
}

// observation is everything that the decision about a child depends on. [decide] does not change it.
type observation struct {
	plannedChild
	facts *facts
	// live is the object from the cache, or from the API server if fresh is set; nil if it does not exist.
	live  client.Object
	fresh bool
	// confirmed reports that the metadata were read from the API server; metadata is nil if the object does not exist there.
	confirmed bool
	metadata  *metav1.PartialObjectMetadata
	// err is the error of the last read.
	err error
	// recall is the memory of the child that applies to live.
	recall memory.Recall
	// counted is the number of recent repairs if an earlier decision of the pass has counted this pass, 0 if none has.
	counted int
	// stripped is what a cache without managedFields has shown before live was read from the API server.
	stripped strippedObject
}

// strippedObject is an object in a cache without managedFields.
type strippedObject struct {
	version string
	shape   uint64 // the hash of the visible values of planned fields, 0 if it was not computed
}

// observeCached reads the child from the cache.
func observeCached(p *pass, c *child) {
	c.facts = &p.facts
	if c.ofOwner {
		c.live = ownerMetadata(p)
	} else {
		o := c.kind.NewObject()
		c.read(o, p.env.client.Get(p.ctx, c.id.Key, o, p.env.cached...))
	}
	if c.err == nil {
		c.recall = recallChild(p, c)
	}
}

// observeLive reads the child from the API server.
func observeLive(p *pass, c *child) {
	look := lookFor(p, c)
	look.Live, look.Missed = true, c.live == nil && !c.recall.Hidden && !c.fresh
	c.stripped = strippedObject{}
	if c.live != nil && c.shape != 0 {
		c.stripped = strippedObject{version: c.live.GetResourceVersion(), shape: c.shape}
	}
	c.free()
	c.fresh, c.confirmed, c.metadata = true, false, nil
	o := c.kind.NewObject()
	c.read(o, p.env.live.Get(p.ctx, c.id.Key, o))
	if c.ofOwner && c.live != nil && c.live.GetUID() != p.owner.GetUID() {
		c.live = nil // another object of this name
	}
	c.recall = c.memory.Recall(c.live, look)
	if c.stripped.shape != 0 {
		noteStripped(p, c)
	}
}

// observeMetadata reads the metadata of the child from the API server.
func observeMetadata(p *pass, c *child) {
	c.metadata, c.err = p.liveMetadata(c.kind.GVK, c.id.Key)
	c.confirmed = true
}

// observeAnswer observes the answer to a write.
func observeAnswer(p *pass, c *child, answer client.Object) {
	if c.live != answer { // it is reused
		c.free()
	}
	c.live, c.uid, c.fresh = answer, answer.GetUID(), true
	c.recall = recallChild(p, c)
}

// read notes the result of a read.
func (c *child) read(o client.Object, err error) {
	if err == nil {
		c.live, c.err = o, nil
		return
	}
	c.kind.Release(o)
	c.err = client.IgnoreNotFound(err)
}

// recallChild recalls the memory that applies to the live object.
func recallChild(p *pass, c *child) memory.Recall { return c.memory.Recall(c.live, lookFor(p, c)) }

func lookFor(p *pass, c *child) memory.Look {
	return memory.Look{
		Intent: c.hash, Now: p.now, Deadline: p.options.LagDeadline, Trust: p.options.ContestInterval,
		MaxPause: min(longestPause, p.options.ContestInterval), Live: c.fresh,
	}
}

// hasManagedFields reports whether an object has managedFields. It does not decode those of an unstructured object.
func hasManagedFields(o client.Object) bool {
	if u, ok := o.(*unstructured.Unstructured); ok {
		entries, _, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "managedFields")
		list, _ := entries.([]any)
		return len(list) > 0
	}
	return len(o.GetManagedFields()) > 0
}

// noteStripped logs once per kind that the cache strips managedFields.
func noteStripped(p *pass, c *child) {
	if c.live == nil || len(c.live.GetManagedFields()) == 0 {
		return
	}
	if _, known := p.env.stripped.LoadOrStore(c.kind, struct{}{}); !known {
		log.FromContext(p.ctx).Info("the cache strips managedFields: drift of what it strips besides is not seen, and after a start "+
			"and after each write one read per child goes to the API server; the transform of this package keeps what is needed",
			"kind", c.kind.GVK.String())
	}
}
