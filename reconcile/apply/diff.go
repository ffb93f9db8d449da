package apply

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/compare"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
)

// DiffOptions say how [Engine.Diff] looks at the world.
type DiffOptions struct {
	// ServerDryRun asks the API server what would become of each object that
	// differs, with dry-run requests: defaults, admission and conflicts then
	// show. Default false: only reads are sent.
	ServerDryRun bool
}

// DiffOption changes the options of a diff. [ServerDryRun] is one.
type DiffOption interface {
	// ApplyToDiff changes the options.
	ApplyToDiff(o *DiffOptions)
}

type serverDryRun struct{}

func (serverDryRun) ApplyToDiff(o *DiffOptions) { o.ServerDryRun = true }

// ServerDryRun asks the API server with dry-run requests.
func ServerDryRun() DiffOption { return serverDryRun{} }

var _ DiffOption = serverDryRun{}

// Diff renders what [Engine.Apply] would do as text, one object after another
// in the order of the plan, and nothing for objects that are right already:
//
//   - ConfigMap shop/settings: create
//   - .data.color: "green"
//     ~ Deployment shop/web: update
//     ~ .spec.replicas: 1 -> 3
//   - Secret shop/old: prune
//
// The data of Secrets is masked. A line with an exclamation mark is something
// that would fail. Nothing is changed, and nothing is remembered.
func (e *Engine) Diff(ctx context.Context, owner client.Object, set Set, opts ...DiffOption) (string, error) {
	var o DiffOptions
	for _, opt := range opts {
		opt.ApplyToDiff(&o)
	}
	p, err := e.beginWith(ctx, owner, &set, &ownerMemory{uid: owner.GetUID(), children: map[applyset.ObjectID]*childMemory{}})
	if err != nil {
		return "", err
	}
	defer p.end()
	p.plan()
	d := &diffWriter{pass: p, options: o}
	for i := range set.Deletes {
		d.deletion(&set.Deletes[i])
	}
	for _, c := range p.children {
		p.decide(c)
		d.child(c)
	}
	if err := d.prunes(); err != nil {
		return "", fmt.Errorf("diff: %w", err)
	}
	return d.out.String(), nil
}

// diffWriter renders a pass that is not carried out.
type diffWriter struct {
	pass    *pass
	options DiffOptions
	out     strings.Builder
}

func (d *diffWriter) object(mark, name, what string) {
	fmt.Fprintf(&d.out, "%s %s: %s\n", mark, name, what)
}

func (d *diffWriter) deletion(del *Deletion) {
	k, err := d.pass.engine.kinds.ofObject(del.Object)
	if err != nil {
		d.object("!", fmt.Sprintf("%T", del.Object), err.Error())
		return
	}
	key := client.ObjectKeyFromObject(del.Object)
	if k.namespaced && key.Namespace == "" {
		key.Namespace = d.pass.owner.GetNamespace()
	}
	o := k.newObject()
	defer k.release(o)
	name := applyset.ObjectName(k.gvk.Kind, key.Namespace, key.Name)
	switch err := d.pass.engine.client.Get(d.pass.ctx, key, o, d.pass.engine.cached...); {
	case client.IgnoreNotFound(err) != nil:
		d.object("!", name, err.Error())
	case err == nil:
		d.object("-", name, "delete")
	}
}

func (d *diffWriter) child(c *planned) {
	name := c.describe()
	if c.result.Err != nil {
		d.object("!", name, c.result.Err.Error())
		return
	}
	if c.action == actionNone {
		return
	}
	if d.options.ServerDryRun && c.action != actionCreate {
		d.dryRun(c)
		return
	}
	if c.live == nil {
		d.object("+", name, "create")
		d.values(c, "", content.Absent{}, c.content)
		return
	}
	live, err := d.pass.engine.encoder.Live(c.live)
	if err != nil {
		d.object("!", name, err.Error())
		return
	}
	d.object("~", name, "update")
	set := &managedfields.Set{}
	if entry := managedfields.Entry(c.live.GetManagedFields(), c.manager); entry != nil && entry.FieldsV1 != nil {
		if parsed, err := managedfields.Parse(entry.FieldsV1.GetRawBytes()); err == nil {
			set = parsed
		}
	}
	comparison := compare.Comparison{Report: func(diff compare.Difference) {
		if diff.Unowned {
			fmt.Fprintf(&d.out, "  = %s: owned from now on\n", diff.Path)
			return
		}
		d.values(c, diff.Path, diff.Live, diff.Intent)
	}}
	comparison.Object(set, c.content, live)
}

// dryRun renders what the API server would make of an apply.
func (d *diffWriter) dryRun(c *planned) {
	name := c.describe()
	data, err := content.Body(c.content, c.kind.gvk, c.id.Key, c.uid)
	if err != nil {
		d.object("!", name, err.Error())
		return
	}
	answer, err := d.pass.engine.apply(d.pass.ctx, c, data, c.force, client.DryRunAll)
	if err != nil {
		d.object("!", name, err.Error())
		return
	}
	after, err := d.pass.engine.encoder.Live(answer)
	if err != nil {
		d.object("!", name, err.Error())
		return
	}
	var before any = content.Absent{}
	if c.live != nil {
		if before, err = d.pass.engine.encoder.Live(c.live); err != nil {
			d.object("!", name, err.Error())
			return
		}
		before = withoutServerFields(before)
		d.object("~", name, "update (dry run)")
	} else {
		d.object("+", name, "create (dry run)")
	}
	d.values(c, "", before, withoutServerFields(after))
}

// withoutServerFields leaves out what changes with every write.
func withoutServerFields(value any) any {
	out, _ := content.WithoutNulls(value).(map[string]any)
	if m, ok := out["metadata"].(map[string]any); ok {
		for _, name := range []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"} {
			delete(m, name)
		}
	}
	return out
}

// prunes renders what is no longer planned.
func (d *diffWriter) prunes() error {
	p := d.pass
	if p.set.PruneBlocked != nil {
		d.object("!", "prune", "blocked: "+p.set.PruneBlocked.Error())
		return nil //nolint:nilerr // it is said in the diff
	}
	members, err := p.members()
	if err != nil {
		return err
	}
	surplus := p.surplus(members)
	if blocked := p.guard(surplus, len(members)); blocked != nil {
		d.object("!", "prune", blocked.Error())
		return nil
	}
	for _, m := range surplus {
		if !p.planned(m.id) && !m.deleting {
			d.object("-", m.id.String(), "prune")
		}
	}
	recorded, err := p.recorded()
	if err != nil {
		return err
	}
	for _, id := range recorded.Contributions {
		if !p.planned(id) {
			d.object("-", id.String(), "give back the contribution")
		}
	}
	return nil
}

// planned says whether the set has the object, as a child or a deletion.
func (p *pass) planned(id applyset.ObjectID) bool {
	for _, c := range p.children {
		if c.id == id {
			return true
		}
	}
	for i := range p.set.Deletes {
		o := p.set.Deletes[i].Object
		k, err := p.engine.kinds.ofObject(o)
		if err != nil || k.gvk.GroupKind() != id.GroupKind || o.GetName() != id.Key.Name {
			continue
		}
		if ns := o.GetNamespace(); ns == id.Key.Namespace || (ns == "" && id.Key.Namespace == p.owner.GetNamespace()) {
			return true
		}
	}
	return false
}
