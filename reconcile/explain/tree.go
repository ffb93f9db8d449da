package explain

import (
	"fmt"
	"strings"
	"time"
)

// Tree is a line of text and its children.
type Tree struct {
	// Text is the line.
	Text string `json:"text"`
	// Below are the child lines, in order.
	Below []Tree `json:"below,omitempty"`
}

// add adds a line and returns it.
func (t *Tree) add(text string, values ...any) *Tree {
	if len(values) > 0 {
		text = fmt.Sprintf(text, values...)
	}
	t.Below = append(t.Below, Tree{Text: text})
	return &t.Below[len(t.Below)-1]
}

// String renders the tree as text, one line each. Line breaks in texts become spaces.
func (t Tree) String() string {
	var b strings.Builder
	b.WriteString(oneLine(t.Text) + "\n")
	t.below(&b, "")
	return b.String()
}

func (t Tree) below(b *strings.Builder, indent string) {
	for i, child := range t.Below {
		mark, further := "├─ ", "│  "
		if i == len(t.Below)-1 {
			mark, further = "└─ ", "   "
		}
		b.WriteString(indent + mark + oneLine(child.Text) + "\n")
		child.below(b, indent+further)
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// String renders the owner's tree as text.
func (o Owner) String() string { return o.Tree().String() }

// Tree returns the owner as a tree: the state, the causes, the last reconciliation, the reads and the next reconciliation.
func (o Owner) Tree() Tree {
	root := Tree{Text: fmt.Sprintf("%s %s (controller %s): %s", kindOnly(o.Kind), o.Name, o.Controller, words(o.State()))}
	if o.Selection != "" && (!o.Found || o.NotSelected) {
		root.add("the controller reconciles objects selected by " + o.Selection)
	}
	if o.Waits != "" {
		root.add("%s", o.Waits)
	}
	if o.Paused && o.Process != "" {
		root.add("it is paused by its annotation")
	}
	for _, c := range o.Causes {
		c.tree(root.add("because: %s", c.text()))
	}
	o.conditions(&root)
	if len(o.NotInstalled) > 0 {
		root.add("optional kinds that are not installed: %s", strings.Join(o.NotInstalled, ", "))
	}
	if o.Last != nil {
		o.Last.tree(root.add("last pass at %s", stamp(o.Last.At)))
	}
	if o.Wrote != nil {
		o.Wrote.tree(root.add("last pass with a write at %s", stamp(o.Wrote.At)))
	}
	if len(o.Reads) > 0 {
		reads := root.add("read: an event of any of these triggers a pass")
		for _, r := range o.Reads {
			reads.add(r.Kind + " " + r.What)
		}
		more(reads, o.MoreReads)
	}
	switch {
	case o.Next == nil && o.Last != nil && !o.Paused && !o.NotSelected:
		root.add("next pass: when an event triggers it")
	case o.Next != nil && o.Next.At.IsZero():
		root.add("next pass: %s", o.Next.Why)
	case o.Next != nil:
		root.add("next pass: %s (%s)", stamp(o.Next.At), o.Next.Why)
	}
	return root
}

// words describes a state.
func words(state string) string {
	switch state {
	case ProcessStandby, ProcessOtherShard:
		return "not reconciled by this process"
	case ProcessNotSynced:
		return "not known yet"
	case stateNotFound:
		return "not found"
	case stateNotSelected:
		return "not selected, therefore not reconciled"
	case statePaused:
		return "paused by its annotation, therefore not reconciled"
	case stateDeleting:
		return "being deleted"
	case stateNotSeen:
		return "no pass since the process started"
	case stateNotReady:
		return "not ready"
	}
	return "ready"
}

func (o Owner) conditions(root *Tree) {
	if len(o.Conditions) == 0 {
		return
	}
	list := root.add("conditions")
	for _, c := range o.Conditions {
		text := c.Type + "=" + c.Status + " " + c.Reason
		if !c.Since.IsZero() {
			text += " since " + stamp(c.Since)
		}
		if c.Message != "" {
			text += ": " + c.Message
		}
		list.add(text)
	}
}

// text returns the cause in one line.
func (c Cause) text() string {
	var b strings.Builder
	if c.Subject != "" && !strings.HasPrefix(c.Message, c.Subject) {
		b.WriteString(c.Subject + ": ")
	}
	b.WriteString(c.Message)
	switch {
	case c.Category != "" && c.Reason != "":
		b.WriteString(" (" + c.Category + ", " + c.Reason + ")")
	case c.Category+c.Reason != "":
		b.WriteString(" (" + c.Category + c.Reason + ")")
	}
	return b.String()
}

func (c Cause) tree(t *Tree) {
	for _, line := range c.Diagnostics {
		t.add("%s", line)
	}
	for _, f := range c.Contested {
		t.add("field %s belongs to manager %q", f.Path, f.Manager)
	}
	if !c.Retry.IsZero() {
		t.add("checked again at %s", stamp(c.Retry))
	}
}

func (p Pass) tree(t *Tree) {
	t.add("triggered by %s", p.Trigger)
	if p.Blocked != "" {
		t.add("nothing was applied: %s", p.Blocked)
	}
	for _, d := range p.Decisions {
		text := d.Object + ": "
		switch {
		case d.WaitsUntil != "":
			text += "waits until " + d.WaitsUntil
		case d.Verb == "none":
			text += "nothing to do (" + d.Reason + ")"
		default:
			text += d.Verb + " (" + d.Reason + ")"
		}
		if d.Error != "" {
			text += ": " + d.Outcome + ": " + d.Error
		}
		line := t.add(text)
		if len(d.Fields) > 0 {
			line.add("fields: %s", strings.Join(d.Fields, ", "))
		}
	}
	more(t, p.MoreDecisions)
	if p.PruneBlocked != "" {
		t.add(p.PruneBlocked)
	}
	if p.StatusWritten {
		t.add("status: written")
	}
}

func more(t *Tree, count int) {
	if count > 0 {
		t.add("and %d more", count)
	}
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// kindOnly removes group and version.
func kindOnly(kind string) string { return kind[strings.LastIndex(kind, "/")+1:] }
