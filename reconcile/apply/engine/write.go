package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// write sends what the children need, rank by rank.
func (p *pass) write() {
	var ranks map[int][]*planned
	for _, c := range p.children {
		if c.action != actionNone {
			if ranks == nil {
				ranks = map[int][]*planned{}
			}
			ranks[c.kind.Rank] = append(ranks[c.kind.Rank], c)
		}
	}
	for _, rank := range slices.Sorted(maps.Keys(ranks)) {
		ready := ranks[rank][:0]
		for _, c := range ranks[rank] {
			if err := p.needs(c); err != nil {
				c.failed(apply.Blocked, err)
				continue
			}
			ready = append(ready, c)
		}
		p.parallel(ready)
	}
}

// parallel sends with as many workers as the options allow.
func (p *pass) parallel(children []*planned) {
	workers := min(len(children), p.engine.opts.Concurrency)
	if workers <= 1 {
		for _, c := range children {
			p.send(c)
		}
		return
	}
	next := make(chan *planned)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for c := range next {
				p.send(c)
			}
		})
	}
	for _, c := range children {
		next <- c
	}
	close(next)
	wg.Wait()
}

// needs returns an error if the child's namespace or definition failed.
func (p *pass) needs(c *planned) error {
	for _, other := range p.children {
		if other.result.Err == nil || other.kind == nil {
			continue
		}
		switch other.id.GroupKind {
		case schema.GroupKind{Kind: "Namespace"}:
			if other.id.Key.Name == c.id.Key.Namespace {
				return fmt.Errorf("its namespace %s failed", other.id.Key.Name)
			}
		case schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:
			if definedBy(other.id.Key.Name, c.id.GroupKind) {
				return fmt.Errorf("its definition %s failed", other.id.Key.Name)
			}
		}
	}
	return nil
}

// definedBy reports whether a definition's name, plural.group, is of this group.
func definedBy(definition string, gk schema.GroupKind) bool {
	return gk.Group != "" && len(definition) > len(gk.Group) && definition[len(definition)-len(gk.Group)-1:] == "."+gk.Group
}

// send carries out the action of one child.
func (p *pass) send(c *planned) {
	if err := p.ctx.Err(); err != nil {
		c.failed(apply.Failed, err)
		return
	}
	var err error
	switch c.action {
	case actionNone:
		return
	case actionCreate:
		err = p.create(c)
	case actionMigrate:
		var right bool
		if right, err = p.migrate(c); err == nil && !right {
			err = p.migrated(c)
		}
	case actionApply:
		err = p.patch(c)
	case actionRemove:
		err = p.remove(c)
	}
	if c.action == actionRemove && apierrors.IsInvalid(err) {
		c.memory.Proven = false
		p.trouble(c, apply.Failed, err) // another object would not help
		return
	}
	for range maxTries {
		refusal := err
		if err = p.disentangle(c, refusal); err == nil || err == refusal { //nolint:errorlint // the very same: nothing was done
			break
		}
	}
	if err != nil {
		p.refused(c, err)
	}
}

// create posts a child that is created once; a POST never hits an object that
// exists.
func (p *pass) create(c *planned) error {
	u := &unstructured.Unstructured{Object: c.content}
	u.SetGroupVersionKind(c.kind.GVK)
	u.SetName(c.id.Key.Name)
	u.SetNamespace(c.id.Key.Namespace)
	err := p.engine.client.Create(p.ctx, u, client.FieldOwner(c.manager))
	if apierrors.IsAlreadyExists(err) {
		return p.exists(c, err)
	}
	if err != nil {
		return err
	}
	c.result.Outcome = apply.Created
	c.memory.Made(p.now)
	c.memory.Wrote(u, p.now)
	c.memory.Ours = u.GetUID()
	c.memory.Accept(c.hash, u.GetResourceVersion())
	c.memory.Succeeded(p.now)
	return nil
}

// exists handles a child that is there although the cache does not show it.
func (p *pass) exists(c *planned, cause error) error {
	found, err := p.liveMetadata(c.kind.GVK, c.id.Key)
	if err != nil || found == nil {
		return errors.Join(cause, err)
	}
	c.result.Reason = apply.ReasonExists
	if !p.checkOwner(c, found) {
		return nil
	}
	c.memory.Wrote(found, p.now) // as good as a write that the cache does not show yet
	c.memory.Accept(c.hash, found.ResourceVersion)
	if p.proves(found, "") {
		c.memory.Ours = found.UID
	}
	return nil
}

// apply sends one server-side apply in the representation that is also read.
func (e *env) apply(ctx context.Context, c *planned, data []byte, force bool, opts ...client.PatchOption) (client.Object, error) {
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
