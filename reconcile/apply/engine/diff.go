package engine

import (
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
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

// decisions are what a pass has decided, for one that is not carried out.
func (p *pass) decisions(pr *pruner, o DiffOptions) apply.Decisions {
	out := apply.Decisions{Owner: p.result.Owner, PruneBlocked: p.result.PruneBlocked}
	for _, d := range p.deletions {
		out.Objects = append(out.Objects, d.result.Decision)
	}
	for _, c := range p.withOwner() {
		d := c.result.Decision
		switch {
		case d.Err != nil || c.action == actionNone:
		case o.ServerDryRun && c.action != actionCreate && c.action != actionMigrate: // of fields that are moved first it knows nothing
			fields, err := p.dryRun(c)
			if d = c.result.Decision; err != nil {
				d.Err = err
			}
			d.Fields = fields
		default:
			d.Fields = p.changes(c)
		}
		out.Objects = append(out.Objects, d)
	}
	for _, m := range pr.surplus {
		if m.result.Reason != apply.ReasonTerminating {
			out.Objects = append(out.Objects, m.result.Decision)
		}
	}
	for _, r := range pr.releases {
		if r.pending() {
			out.Objects = append(out.Objects, r.result.Decision)
		}
	}
	return out
}

// changes are the fields that an apply would change, as far as the object that
// was read tells. A create sets all that is planned.
func (p *pass) changes(c *planned) []apply.FieldChange {
	w := &changeWriter{child: c}
	if c.live == nil {
		w.values("", content.Absent{}, c.content)
		return w.changes
	}
	live, err := p.engine.encoder.Live(c.live)
	if err != nil {
		return nil
	}
	set := &managedfields.Set{}
	if entry := managedfields.Entry(c.live.GetManagedFields(), c.manager); entry != nil && entry.FieldsV1 != nil {
		if parsed, err := managedfields.Parse(entry.FieldsV1.GetRawBytes()); err == nil {
			set = parsed
		}
	}
	comparison := compare.Comparison{Schema: c.kind.Schema, Report: func(diff compare.Difference) {
		if diff.Unowned {
			w.line(diff.Path, diff.Live, diff.Live)
			return
		}
		w.values(diff.Path, diff.Live, diff.Intent)
	}}
	comparison.Object(set, c.content, live)
	return append(w.changes, c.removals(w.changes)...)
}

// dryRun asks the API server what it would make of an apply.
func (p *pass) dryRun(c *planned) ([]apply.FieldChange, error) {
	rest := c.unwanted
	if c.action == actionRemove {
		rest = nil
	}
	answer, err := p.sendDryRun(c)
	if err != nil || answer == nil {
		return nil, err
	}
	c.unwanted = rest
	p.reportContest(c)
	after, err := p.engine.encoder.Live(answer)
	if err != nil {
		return nil, err
	}
	var before any = content.Absent{}
	if c.live != nil {
		content, err := p.engine.encoder.Live(c.live)
		if err != nil {
			return nil, err
		}
		before = withoutServerFields(content)
	}
	w := &changeWriter{child: c}
	w.values("", before, withoutServerFields(after))
	return append(w.changes, c.removals(w.changes)...), nil
}

func (p *pass) sendDryRun(c *planned) (client.Object, error) {
	if c.action == actionRemove {
		return p.sendRemoval(c, client.DryRunAll)
	}
	return p.apply(c, client.DryRunAll)
}

// withoutServerFields leaves out what changes with every write.
func withoutServerFields(value any) any {
	given, _ := value.(map[string]any)
	out := maps.Clone(given)
	if m, ok := out["metadata"].(map[string]any); ok {
		m = maps.Clone(m)
		out["metadata"] = m
		for _, name := range []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"} {
			delete(m, name)
		}
	}
	return out
}
