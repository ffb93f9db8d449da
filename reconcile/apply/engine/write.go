package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
)

// writeOwner applies the planned metadata of the owner. A preceding write of the inventory is no conflict.
func writeOwner(p *pass) {
	c := p.ownerChild
	if c == nil || c.action == actionNone {
		return
	}
	if m := &p.memory.Metadata; c.live != nil && m.Replaced != "" && c.live.GetResourceVersion() == m.Replaced {
		c.live.SetResourceVersion(m.Written.Version())
	}
	writeChild(p, c)
}

// writeChildren sends the requests of the children, rank by rank.
func writeChildren(p *pass) {
	if p.order != nil {
		p.order.write(p)
		return
	}
	var ranks map[int][]*child
	for _, c := range p.children {
		if c.action != actionNone {
			if ranks == nil {
				ranks = map[int][]*child{}
			}
			ranks[c.kind.Rank] = append(ranks[c.kind.Rank], c)
		}
	}
	if ranks == nil {
		return
	}
	for _, rank := range slices.Sorted(maps.Keys(ranks)) {
		writeReady(p, ranks[rank])
	}
}

// writeReady sends the requests of children that do not depend on each other, except those whose namespace or definition failed.
func writeReady(p *pass, children []*child) {
	ready := children[:0]
	for _, c := range children {
		if err := checkNeeds(p, c); err != nil {
			c.failed(apply.OutcomeBlocked, err)
			continue
		}
		ready = append(ready, c)
	}
	writeParallel(p, ready)
}

// writeParallel sends requests concurrently, with the number of workers in the options.
func writeParallel(p *pass, children []*child) {
	workers := min(len(children), p.env.options.Concurrency)
	if workers <= 1 {
		for _, c := range children {
			writeChild(p, c)
		}
		return
	}
	next := make(chan *child)
	var wg sync.WaitGroup
	var panicked atomic.Pointer[any]
	for range workers {
		wg.Go(func() {
			for c := range next {
				if cause := sendRecovered(p, c); cause != nil {
					panicked.CompareAndSwap(nil, &cause)
				}
			}
		})
	}
	for _, c := range children {
		next <- c
	}
	close(next)
	wg.Wait()
	if cause := panicked.Load(); cause != nil {
		panic(*cause) //nolint:forbidigo // it is that of a worker, again in the goroutine of the pass, whose caller recovers
	}
}

// sendRecovered carries out the action of one child and returns the value of a panic, nil if there was none.
func sendRecovered(p *pass, c *child) (cause any) {
	defer func() {
		if cause = recover(); cause != nil {
			cause = fmt.Sprintf("%s: %v\n\n%s", c.id, cause, debug.Stack())
		}
	}()
	writeChild(p, c)
	return nil
}

// checkNeeds returns an error if the write of the child's namespace or definition failed.
func checkNeeds(p *pass, c *child) error {
	for _, other := range p.children {
		if other.result.Err == nil || other.kind == nil || contestedOnly(other) {
			continue
		}
		switch other.id.GroupKind {
		case schema.GroupKind{Kind: "Namespace"}:
			if other.id.Key.Name == c.id.Key.Namespace {
				return fmt.Errorf("its namespace %s failed", other.id.Key.Name)
			}
		case schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:
			if defines(p, other, c.id.GroupKind) {
				return fmt.Errorf("its definition %s failed", other.id.Key.Name)
			}
		}
	}
	return nil
}

// contestedOnly reports whether a child exists and is as planned, except for contested fields.
func contestedOnly(c *child) bool {
	return len(c.contested()) > 0 && c.result.Outcome == apply.OutcomeContested
}

// defines reports whether a planned definition is that of the kind. It returns true for a definition that cannot be parsed.
func defines(p *pass, definition *child, gk schema.GroupKind) bool {
	if _, group, _ := strings.Cut(definition.id.Key.Name, "."); group != gk.Group || group == "" {
		return false
	}
	content, err := p.env.encoder.Intent(intent.Written(definition.planned))
	if err != nil {
		return true
	}
	kind, found, err := unstructured.NestedString(content, "spec", "names", "kind")
	return !found || err != nil || kind == gk.Kind
}

// writeChild carries out the action of one child.
func writeChild(p *pass, c *child) {
	if err := p.ctx.Err(); err != nil {
		c.failed(apply.OutcomeFailed, err)
		return
	}
	if inTerminatingNamespace(p, c) {
		return
	}
	defer noteNamespace(p, c)
	err := carryOutAction(p, c)
	if c.action == actionRemove && apierrors.IsInvalid(err) {
		c.memory.ForgetProof()
		failWithBackoff(p, c, apply.OutcomeFailed, err) // another object would not help
		return
	}
	for range maxTries {
		if err == nil {
			return
		}
		refusal := err
		if err = removeEmptied(p, c, refusal); err == refusal { //nolint:errorlint // the very same: nothing was done
			if err = removeUnowned(p, c, refusal); err == refusal { //nolint:errorlint // as above
				err = removeConflicting(p, c, refusal)
			}
		}
		if err == nil || err == refusal { //nolint:errorlint // as above
			break
		}
	}
	if err != nil {
		handleRefusal(p, c, err)
	}
}

// carryOutAction sends the request of one child.
func carryOutAction(p *pass, c *child) error {
	switch c.action {
	case actionCreate:
		return createChild(p, c)
	case actionMigrate:
		right, err := migrateManagers(p, c)
		if err != nil || right {
			return err
		}
		if err = applyMigrated(p, c); isCurable(err) {
			err = applyAgain(p, c) // as an object that was migrated before
		}
		return err
	case actionApply:
		return patchChild(p, c)
	case actionRemove:
		return removeFields(p, c)
	case actionMark:
		return markChild(p, c)
	case actionNone:
	}
	return nil
}

// createChild creates a child in the mode Once with a POST, which never changes an existing object.
func createChild(p *pass, c *child) error {
	u := &unstructured.Unstructured{Object: c.content}
	u.SetGroupVersionKind(c.kind.GVK)
	u.SetName(c.id.Key.Name)
	u.SetNamespace(c.id.Key.Namespace)
	err := p.env.client.Create(p.ctx, u, client.FieldOwner(c.manager))
	if apierrors.IsAlreadyExists(err) {
		return handleExisting(p, c, err)
	}
	if err != nil {
		return err
	}
	c.result.Outcome = apply.OutcomeCreated
	c.memory.Made(p.now)
	c.memory.Wrote(u, p.now)
	c.memory.ProvenOurs(u.GetUID())
	c.memory.Accept(c.hash, u.GetResourceVersion())
	c.memory.Succeeded(p.now)
	return nil
}

// handleExisting handles a child that exists although the cache does not show it.
func handleExisting(p *pass, c *child, cause error) error {
	found, err := p.liveMetadata(c.kind.GVK, c.id.Key)
	if err != nil || found == nil {
		return errors.Join(cause, err)
	}
	c.result.Reason = apply.ReasonExists
	if !stillOwned(p, c, found) {
		return nil
	}
	c.memory.Wrote(found, p.now) // as good as a write that the cache does not show yet
	if p.outdatedReference(found) < 0 {
		c.memory.Accept(c.hash, found.ResourceVersion)
	}
	if p.provesMember(found, "") {
		c.memory.ProvenOurs(found.UID)
	}
	return nil
}

// stillOwned applies the adoption policy to an object that was read after the decision.
func stillOwned(p *pass, c *child, found metav1.Object) bool {
	c.recall.UID, c.recall.OursUID = c.memory.UID(), c.memory.Ours()
	owned := c.checkOwner(found)
	if !owned {
		noteRestored(p, c)
	}
	remember(p, c)
	return owned
}

// sendApply sends one server-side apply in the representation that is also read.
func sendApply(ctx context.Context, e *env, c *child, data []byte, force bool, opts ...client.PatchOption) (client.Object, error) {
	o := c.kind.NewObject()
	o.SetName(c.id.Key.Name)
	o.SetNamespace(c.id.Key.Namespace)
	opts = append(opts, client.FieldOwner(c.manager))
	if force {
		opts = append(opts, client.ForceOwnership)
	}
	if err := e.client.Patch(ctx, o, client.RawPatch(types.ApplyPatchType, data), opts...); err != nil {
		return nil, err
	}
	return o, nil
}
