package engine

import (
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
)

// DiffOptions configure [Engine.Diff].
type DiffOptions struct {
	// ServerDryRun sends a dry-run request for each object that differs, so that defaults, admission and conflicts are included. Default
	// false: only reads are sent.
	ServerDryRun bool
}

// decisions returns the decisions of a pass that is not carried out.
func decisions(p *pass, pr *pruning, o DiffOptions) apply.Decisions {
	out := apply.Decisions{Owner: p.result.Owner, PruneBlocked: p.result.PruneBlocked}
	for _, d := range p.deletions {
		out.Objects = append(out.Objects, d.result.Decision)
	}
	for _, c := range p.withOwner() {
		d := c.result.Decision
		switch {
		case d.Err != nil || c.action == actionNone || c.action == actionMark: // the change of a mark is decided
		case o.ServerDryRun && c.action != actionCreate && c.action != actionMigrate: // it does not include fields that are moved first
			fields, err := dryRun(p, c)
			if d = c.result.Decision; err != nil {
				d.Err = err
			}
			d.Fields = fields
		default:
			d.Fields = c.changedFields()
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

// dryRun sends an apply as a dry run and returns the changes.
func dryRun(p *pass, c *child) ([]apply.FieldChange, error) {
	rest := c.unwanted
	if c.action == actionRemove {
		rest = nil
	}
	answer, err := sendDryRun(p, c)
	if err != nil || answer == nil {
		return nil, err
	}
	c.unwanted = rest
	c.reportContest()
	after, err := p.env.encoder.Live(answer)
	if err != nil {
		return nil, err
	}
	var before any = content.Absent{}
	if c.live != nil {
		content, err := p.env.encoder.Live(c.live)
		if err != nil {
			return nil, err
		}
		before = withoutServerFields(content)
	}
	w := &changeWriter{kind: c.id.GroupKind}
	w.values("", before, withoutServerFields(after))
	return append(w.changes, c.removedFields(w.changes)...), nil
}

func sendDryRun(p *pass, c *child) (client.Object, error) {
	if c.action == actionRemove {
		return sendRemoval(p, c, client.DryRunAll)
	}
	return applyChild(p, c, client.DryRunAll)
}

// withoutServerFields removes fields that change with every write.
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
