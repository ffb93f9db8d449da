package reconciletest

import (
	"fmt"
)

// deleted are the objects that the operator has deleted, by kind and name.
func (r *run) deleted() map[string]bool {
	out := map[string]bool{}
	for _, c := range r.calls {
		gone := c.before != nil && (c.after == nil || c.after.GetUID() != c.before.GetUID())
		marked := c.before != nil && c.after != nil && c.before.GetDeletionTimestamp() == nil && c.after.GetDeletionTimestamp() != nil
		if c.request.Verb == "delete" && (gone || marked) {
			out[displayName(c.gvk, c.key, c.before)] = true
		}
	}
	return out
}

// trace reports what was sent, a line each.
func (r *run) trace() []string {
	var lines []string
	for _, c := range r.calls {
		line := fmt.Sprintf("pass %d: %s", c.pass, c)
		switch {
		case c.err != nil:
			line += ": " + c.err.Error()
		case c.request.IsWrite() && !c.changed:
			line += ": changes nothing"
		}
		lines = append(lines, line)
	}
	return append(lines, fmt.Sprintf("%d passes", r.passes))
}
