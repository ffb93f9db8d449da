package observe

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/explain"
)

// Fill adds the record of the owner's passes.
func (r *LastPasses) Fill(out *explain.Owner, key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.owners[key]
	if o == nil {
		return
	}
	if !o.running.IsZero() {
		out.Waits = "a pass is running since " + o.running.UTC().Format(time.RFC3339)
	}
	if o.deferred != "" {
		out.Next = &explain.Next{At: o.until, Why: o.deferred}
	}
	if o.last.at.IsZero() {
		return
	}
	out.Last = o.last.explained()
	if o.wrote != nil {
		out.Wrote = o.wrote.explained()
	}
	if o.last.next > 0 && out.Next == nil {
		out.Next = &explain.Next{At: o.last.at.Add(o.last.next), Why: o.last.why}
	}
	for _, c := range o.last.causes {
		if out.Next != nil {
			c.Retry = out.Next.At
		}
		out.Causes = append(out.Causes, c)
	}
}

func (p *passed) explained() *explain.Pass {
	out := &explain.Pass{
		At: p.at, Trigger: p.trigger.String(), Blocked: p.blocked, PruneBlocked: p.pruneBlocked, StatusWritten: p.statusWritten,
		MoreDecisions: p.more,
	}
	for _, d := range p.objects {
		v := d.verdict.Value()
		one := explain.Decision{Object: ObjectName(v.kind, d.key), Verb: string(v.verb), Reason: string(v.reason), Outcome: string(v.outcome)}
		if d.details != nil {
			one.Fields, one.WaitsUntil, one.Error = d.details.fields, d.details.waits, d.details.err
		}
		out.Decisions = append(out.Decisions, one)
	}
	return out
}

// String returns the event, its object and the field manager that caused it.
func (t startedBy) String() string {
	if !t.known {
		return "a timer, a retry, or the start of the process"
	}
	text := t.Event + " of " + ObjectName(t.Kind.Kind, t.Object)
	if t.Manager != "" {
		text += " by " + t.Manager
	}
	if t.More > 0 {
		text += fmt.Sprintf(", and %d more events", t.More)
	}
	return text
}

var _ fmt.Stringer = startedBy{}
