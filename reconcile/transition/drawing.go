package transition

import (
	"fmt"
	"slices"
	"strings"
)

// Drawing is the table in a printable form.
type Drawing struct {
	// Name is the name of the table.
	Name string `json:"name"`
	// Facts are the column headers.
	Facts []string `json:"facts"`
	// Rows has one row for each state, with its action for each fact.
	Rows []Row `json:"rows"`
	// Edges are the transitions between states, with their actions.
	Edges []Edge `json:"edges,omitempty"`
	// Entered are states that others write.
	Entered []string `json:"entered,omitempty"`
}

// Row is one state of a table.
type Row struct {
	// State is the name of the state.
	State string `json:"state"`
	// Actions for the facts, in the order of the columns.
	Actions []string `json:"actions"`
}

// Edge is a transition between states.
type Edge struct {
	// From is the source state.
	From string `json:"from"`
	// To is the target state.
	To string `json:"to"`
	// Action is the action of the transition.
	Action string `json:"action"`
}

// Drawing returns the table in a printable form. Edges have the order of the states.
func (t Table[S, F, A]) Drawing() Drawing {
	d := Drawing{Name: t.Name, Facts: texts(t.Facts), Entered: texts(t.Entered)}
	for _, s := range t.States {
		row := Row{State: string(s)}
		for _, f := range t.Facts {
			action := t.Action(s, f)
			row.Actions = append(row.Actions, string(action))
			for _, to := range t.Leads[action] {
				edge := Edge{From: string(s), To: string(to), Action: string(action)}
				if s != to && !slices.Contains(d.Edges, edge) {
					d.Edges = append(d.Edges, edge)
				}
			}
		}
		d.Rows = append(d.Rows, row)
	}
	return d
}

// Mermaid returns the state diagram (https://mermaid.js.org/syntax/stateDiagram.html), which begins with the first state.
func (d Drawing) Mermaid() string {
	var w strings.Builder
	fmt.Fprintln(&w, "stateDiagram-v2")
	id := map[string]string{}
	for i, row := range d.Rows {
		id[row.State] = fmt.Sprintf("s%d", i)
		fmt.Fprintf(&w, "    state %q as s%d\n", row.State, i)
	}
	for i, row := range d.Rows {
		if i == 0 {
			fmt.Fprintln(&w, "    [*] --> s0")
		} else if slices.Contains(d.Entered, row.State) {
			fmt.Fprintf(&w, "    [*] --> s%d: by others\n", i)
		}
	}
	for _, e := range d.Edges {
		fmt.Fprintf(&w, "    %s --> %s: %s\n", id[e.From], id[e.To], e.Action)
	}
	return w.String()
}

func texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}
