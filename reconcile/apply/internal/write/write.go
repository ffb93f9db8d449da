package write

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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/decide"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/ownership"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// Owner applies what is planned of the owner's metadata. That the
// inventory has just been written is no conflict.
func Owner(p *pass.Pass) {
	c := p.OwnerChild
	if c == nil || c.Action == pass.ActionNone {
		return
	}
	if m := &p.Memory.Metadata; c.Live != nil && m.Replaced != "" && c.Live.GetResourceVersion() == m.Replaced {
		c.Live.SetResourceVersion(m.Written.Version())
	}
	send(p, c)
}

// Children sends what the children need, rank by rank.
func Children(p *pass.Pass) {
	var ranks map[int][]*pass.Child
	for _, c := range p.Children {
		if c.Action != pass.ActionNone {
			if ranks == nil {
				ranks = map[int][]*pass.Child{}
			}
			ranks[c.Kind.Rank] = append(ranks[c.Kind.Rank], c)
		}
	}
	if ranks == nil {
		return
	}
	for _, rank := range slices.Sorted(maps.Keys(ranks)) {
		ready := ranks[rank][:0]
		for _, c := range ranks[rank] {
			if err := needs(p, c); err != nil {
				c.Failed(apply.OutcomeBlocked, err)
				continue
			}
			ready = append(ready, c)
		}
		parallel(p, ready)
	}
}

// parallel sends with as many workers as the options allow.
func parallel(p *pass.Pass, children []*pass.Child) {
	workers := min(len(children), p.Env.Options.Concurrency)
	if workers <= 1 {
		for _, c := range children {
			send(p, c)
		}
		return
	}
	next := make(chan *pass.Child)
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

// sendRecovered carries out the action of one child, and returns what that has
// panicked with.
func sendRecovered(p *pass.Pass, c *pass.Child) (cause any) {
	defer func() {
		if cause = recover(); cause != nil {
			cause = fmt.Sprintf("%s: %v\n\n%s", c.ID, cause, debug.Stack())
		}
	}()
	send(p, c)
	return nil
}

// needs returns an error if the child's namespace or definition failed.
func needs(p *pass.Pass, c *pass.Child) error {
	for _, other := range p.Children {
		if other.Result.Err == nil || other.Kind == nil || contestedOnly(other) {
			continue
		}
		switch other.ID.GroupKind {
		case schema.GroupKind{Kind: "Namespace"}:
			if other.ID.Key.Name == c.ID.Key.Namespace {
				return fmt.Errorf("its namespace %s failed", other.ID.Key.Name)
			}
		case schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:
			if defines(p, other, c.ID.GroupKind) {
				return fmt.Errorf("its definition %s failed", other.ID.Key.Name)
			}
		}
	}
	return nil
}

// contestedOnly reports whether a child exists, and is as planned save for fields
// that are left to others.
func contestedOnly(c *pass.Child) bool {
	return len(c.Contested) > 0 && c.Result.Outcome == apply.OutcomeContested
}

// defines reports whether a definition that is planned is that of the kind. One
// that cannot be read may be.
func defines(p *pass.Pass, definition *pass.Child, gk schema.GroupKind) bool {
	if _, group, _ := strings.Cut(definition.ID.Key.Name, "."); group != gk.Group || group == "" {
		return false
	}
	content, err := p.Env.Encoder.Intent(intent.Written(definition.Planned))
	if err != nil {
		return true
	}
	kind, found, err := unstructured.NestedString(content, "spec", "names", "kind")
	return !found || err != nil || kind == gk.Kind
}

// send carries out the action of one child.
func send(p *pass.Pass, c *pass.Child) {
	if err := p.Ctx.Err(); err != nil {
		c.Failed(apply.OutcomeFailed, err)
		return
	}
	if inTerminating(p, c) {
		return
	}
	defer noteNamespace(p, c)
	var err error
	switch c.Action {
	case pass.ActionNone:
		return
	case pass.ActionCreate:
		err = create(p, c)
	case pass.ActionMigrate:
		var right bool
		if right, err = migrate(p, c); err == nil && !right {
			err = migrated(p, c)
		}
	case pass.ActionApply:
		err = patch(p, c)
	case pass.ActionRemove:
		err = remove(p, c)
	case pass.ActionMark:
		err = mark(p, c)
	}
	if c.Action == pass.ActionRemove && apierrors.IsInvalid(err) {
		c.Memory.ForgetProof()
		failWithBackoff(p, c, apply.OutcomeFailed, err) // another object would not help
		return
	}
	for range MaxTries {
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
		refused(p, c, err)
	}
}

// create posts a child that is created once; a POST never hits an object that
// exists.
func create(p *pass.Pass, c *pass.Child) error {
	u := &unstructured.Unstructured{Object: c.Content}
	u.SetGroupVersionKind(c.Kind.GVK)
	u.SetName(c.ID.Key.Name)
	u.SetNamespace(c.ID.Key.Namespace)
	err := p.Env.Client.Create(p.Ctx, u, client.FieldOwner(c.Manager))
	if apierrors.IsAlreadyExists(err) {
		return exists(p, c, err)
	}
	if err != nil {
		return err
	}
	c.Result.Outcome = apply.OutcomeCreated
	c.Memory.Made(p.Now)
	c.Memory.Wrote(u, p.Now)
	c.Memory.ProvenOurs(u.GetUID())
	c.Memory.Accept(c.Hash, u.GetResourceVersion())
	c.Memory.Succeeded(p.Now)
	return nil
}

// exists handles a child that is there although the cache does not show it.
func exists(p *pass.Pass, c *pass.Child, cause error) error {
	found, err := p.LiveMetadata(c.Kind.GVK, c.ID.Key)
	if err != nil || found == nil {
		return errors.Join(cause, err)
	}
	c.Result.Reason = apply.ReasonExists
	if !ownership.CheckOwner(p, c, found) {
		return nil
	}
	c.Memory.Wrote(found, p.Now) // as good as a write that the cache does not show yet
	if decide.OutdatedReference(p, found) < 0 {
		c.Memory.Accept(c.Hash, found.ResourceVersion)
	}
	if ownership.Proves(p, found, "") {
		c.Memory.ProvenOurs(found.UID)
	}
	return nil
}

// sendApply sends one server-side apply in the representation that is also read.
func sendApply(ctx context.Context, e *pass.Env, c *pass.Child, data []byte, force bool, opts ...client.PatchOption) (client.Object, error) {
	o := c.Kind.NewObject()
	o.SetName(c.ID.Key.Name)
	o.SetNamespace(c.ID.Key.Namespace)
	opts = append(opts, client.FieldOwner(c.Manager))
	if force {
		opts = append(opts, client.ForceOwnership)
	}
	if err := e.Client.Patch(ctx, o, client.RawPatch(types.ApplyPatchType, data), opts...); err != nil {
		return nil, err
	}
	return o, nil
}
