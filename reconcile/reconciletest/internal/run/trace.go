package run

import (
	"fmt"
)

// Deleted returns the objects that the operator has deleted, by kind and name.
func (r *Run) Deleted() map[string]bool {
	out := map[string]bool{}
	for _, c := range r.Calls {
		gone := c.Before != nil && (c.After == nil || c.After.GetUID() != c.Before.GetUID())
		marked := c.Before != nil && c.After != nil && c.Before.GetDeletionTimestamp() == nil && c.After.GetDeletionTimestamp() != nil
		if c.Request.Verb == "delete" && (gone || marked) {
			out[r.Cluster.DisplayName(c.GVK, c.Key, c.Before)] = true
		}
	}
	return out
}

// Trace returns the requests, one line each.
func (r *Run) Trace() []string {
	var lines []string
	for _, c := range r.Calls {
		line := fmt.Sprintf("pass %d: %s", c.Pass, c)
		switch {
		case c.Err != nil:
			line += ": " + c.Err.Error()
		case c.Request.IsWrite() && !c.Changed:
			line += ": changes nothing"
		}
		lines = append(lines, line)
	}
	return append(lines, fmt.Sprintf("%d passes", r.Passes))
}
