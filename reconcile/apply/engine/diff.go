package engine

import (
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/decide"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/prune"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/write"
)

// DiffOptions are how [Engine.Diff] looks at the world.
type DiffOptions struct {
	// ServerDryRun asks the API server what would become of each object that
	// differs, with dry-run requests: defaults, admission and conflicts then
	// show. Default false: only reads are sent.
	ServerDryRun bool
}

// decisions are what a pass has decided, for one that is not carried out.
func decisions(p *pass.Pass, pr *prune.Prune, o DiffOptions) apply.Decisions {
	out := apply.Decisions{Owner: p.Result.Owner, PruneBlocked: p.Result.PruneBlocked}
	for _, d := range p.Deletions {
		out.Objects = append(out.Objects, d.Result.Decision)
	}
	for _, c := range p.WithOwner() {
		d := c.Result.Decision
		switch {
		case d.Err != nil || c.Action == pass.ActionNone || c.Action == pass.ActionMark: // what a mark changes is decided
		case o.ServerDryRun && c.Action != pass.ActionCreate && c.Action != pass.ActionMigrate: // of fields that are moved first it knows nothing
			fields, err := dryRun(p, c)
			if d = c.Result.Decision; err != nil {
				d.Err = err
			}
			d.Fields = fields
		default:
			d.Fields = decide.Changes(p, c)
		}
		out.Objects = append(out.Objects, d)
	}
	for _, m := range pr.Surplus {
		if m.Result.Reason != apply.ReasonTerminating {
			out.Objects = append(out.Objects, m.Result.Decision)
		}
	}
	for _, r := range pr.Releases {
		if r.Pending() {
			out.Objects = append(out.Objects, r.Result.Decision)
		}
	}
	return out
}

// dryRun asks the API server what it would make of an apply.
func dryRun(p *pass.Pass, c *pass.Child) ([]apply.FieldChange, error) {
	rest := c.Unwanted
	if c.Action == pass.ActionRemove {
		rest = nil
	}
	answer, err := sendDryRun(p, c)
	if err != nil || answer == nil {
		return nil, err
	}
	c.Unwanted = rest
	decide.ReportContest(p, c)
	after, err := p.Env.Encoder.Live(answer)
	if err != nil {
		return nil, err
	}
	var before any = content.Absent{}
	if c.Live != nil {
		content, err := p.Env.Encoder.Live(c.Live)
		if err != nil {
			return nil, err
		}
		before = withoutServerFields(content)
	}
	w := &decide.ChangeWriter{Child: c}
	w.Values("", before, withoutServerFields(after))
	return append(w.Changes, decide.Removals(c, w.Changes)...), nil
}

func sendDryRun(p *pass.Pass, c *pass.Child) (client.Object, error) {
	if c.Action == pass.ActionRemove {
		return write.SendRemoval(p, c, client.DryRunAll)
	}
	return write.Apply(p, c, client.DryRunAll)
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
