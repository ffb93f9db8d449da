package preview

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Report lists the changes that an operator would make.
type Report struct {
	// Owners has all owners, in the order of the controllers, by namespace and name.
	Owners []Owner `json:"owners"`
	// Skipped lists parts that could not be previewed, with the reasons.
	Skipped []string `json:"skipped,omitempty"`
}

// Owner lists the changes for one owner.
type Owner struct {
	// Controller is the name of the controller.
	Controller string `json:"controller"`
	// Kind is the kind of the owner, as in apps/v1/Deployment.
	Kind string `json:"kind"`
	// Name is the name of the owner, prefixed with "namespace/" if it is namespaced.
	Name string `json:"name"`
	// Paused reports whether the owner is paused; it has no changes then.
	Paused bool `json:"paused,omitempty"`
	// Blocked is the reason why nothing would be applied; empty if something would.
	Blocked string `json:"blocked,omitempty"`
	// Changes are the objects that would be written or deleted, and those that would fail.
	Changes []Change `json:"changes,omitempty"`
	// PruneBlocked is the reason why children that left the plan would be kept; empty if none would.
	PruneBlocked string `json:"pruneBlocked,omitempty"`
	// Conditions are the changes of the status or reason of conditions, as in "Ready: True Ready -> False InvalidSpec".
	Conditions []string `json:"conditions,omitempty"`
	// Errors are the errors that would occur.
	Errors []string `json:"errors,omitempty"`
}

// Change is the change of one object.
type Change struct {
	// Object is the object, as in "ConfigMap shop/settings".
	Object string `json:"object"`
	// Verb and Reason are those of package apply.
	Verb   string `json:"verb"`
	Reason string `json:"reason"`
	// Restart reports whether the pod template of a workload would change, which replaces its pods.
	Restart bool `json:"restart,omitempty"`
	// Fields are the changed fields.
	Fields []Field `json:"fields,omitempty"`
	// WaitsUntil is the planned condition that the object waits for; the object is not changed before.
	WaitsUntil string `json:"waitsUntil,omitempty"`
	// Error is the reason why the object would differ from the plan; the object is not changed.
	Error string `json:"error,omitempty"`
}

// Field is the change of one field. From and To are values as JSON, empty for a missing one.
type Field struct {
	// Path of the field, ".spec.replicas".
	Path string `json:"path"`
	// From is the current value.
	From string `json:"from,omitempty"`
	// To is the new value.
	To string `json:"to,omitempty"`
}

// Changes reports whether an object would be written.
func (r Report) Changes() bool {
	for _, o := range r.Owners {
		if o.writes() > 0 || len(o.Conditions) > 0 {
			return true
		}
	}
	return false
}

func (o Owner) writes() (count int) {
	for _, c := range o.Changes {
		if c.Error == "" && c.WaitsUntil == "" {
			count++
		}
	}
	return count
}

// Table returns a table with a row for each object that would be written, and for each owner without changes.
func (r Report) Table() string {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "OWNER\tOBJECT\tVERB\tREASON\tFIELDS\tNOTE")
	row := func(cells ...any) { _, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", cells...) }
	for _, o := range r.Owners {
		name := o.title()
		for _, note := range o.notes() {
			row(name, "", "", "", "", note)
		}
		for _, c := range o.Changes {
			note := c.Error
			if c.WaitsUntil != "" {
				note = "waits until " + c.WaitsUntil
			}
			if c.Restart {
				note = "would restart"
			}
			row(name, c.Object, c.Verb, c.Reason, strconv.Itoa(len(c.Fields)), note)
		}
		for _, condition := range o.Conditions {
			row(name, "status", "update", "", "", condition)
		}
		if len(o.notes())+len(o.Changes)+len(o.Conditions) == 0 {
			row(name, "", "none", "", "", "")
		}
	}
	_ = w.Flush()
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n" + r.skipped()
}

func (o Owner) title() string { return o.Kind[strings.LastIndex(o.Kind, "/")+1:] + " " + o.Name }

// notes returns further lines about the owner.
func (o Owner) notes() []string {
	var notes []string
	if o.Paused {
		notes = append(notes, "paused: no changes")
	}
	if o.Blocked != "" {
		notes = append(notes, "no changes applied: "+oneLine(o.Blocked))
	}
	if o.PruneBlocked != "" {
		notes = append(notes, oneLine(o.PruneBlocked))
	}
	for _, err := range o.Errors {
		notes = append(notes, oneLine(err))
	}
	return notes
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func (r Report) skipped() string {
	var b strings.Builder
	for _, s := range r.Skipped {
		b.WriteString("skipped: " + s + "\n")
	}
	return b.String()
}

// Diff returns the changes by object and field. Owners without changes are omitted.
func (r Report) Diff() string {
	var b strings.Builder
	for _, o := range r.Owners {
		if len(o.notes())+len(o.Changes)+len(o.Conditions) == 0 {
			continue
		}
		_, _ = fmt.Fprintf(&b, "%s (controller %s)\n", o.title(), o.Controller)
		for _, note := range o.notes() {
			_, _ = fmt.Fprintf(&b, "  ! %s\n", note)
		}
		for _, c := range o.Changes {
			c.diff(&b)
		}
		for _, condition := range o.Conditions {
			_, _ = fmt.Fprintf(&b, "  ~ condition %s\n", condition)
		}
	}
	return b.String() + r.skipped()
}

func (c Change) diff(b *strings.Builder) {
	if c.Error != "" {
		_, _ = fmt.Fprintf(b, "  ! %s: %s\n", c.Object, oneLine(c.Error))
		return
	}
	if c.WaitsUntil != "" {
		_, _ = fmt.Fprintf(b, "  * %s: waits until %s\n", c.Object, oneLine(c.WaitsUntil))
		return
	}
	note := ""
	if c.Restart {
		note = ", would restart"
	}
	_, _ = fmt.Fprintf(b, "  %s %s (%s%s)\n", c.Verb, c.Object, c.Reason, note)
	for _, f := range c.Fields {
		switch {
		case f.From == f.To:
			_, _ = fmt.Fprintf(b, "    = %s: owned from now on\n", f.Path)
		case f.From == "":
			_, _ = fmt.Fprintf(b, "    + %s: %s\n", f.Path, f.To)
		case f.To == "":
			_, _ = fmt.Fprintf(b, "    - %s: %s\n", f.Path, f.From)
		default:
			_, _ = fmt.Fprintf(b, "    ~ %s: %s -> %s\n", f.Path, f.From, f.To)
		}
	}
}

// JSON returns the report as indented JSON.
func (r Report) JSON() ([]byte, error) {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the preview: %w", err)
	}
	return append(data, '\n'), nil
}
