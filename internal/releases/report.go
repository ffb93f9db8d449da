package releases

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Report counts what the trials did, and names what went wrong.
type Report struct {
	// Projects, Files and Objects count the input.
	Projects, Files, Objects int
	// Edits counts the edits that the server accepted, Repaired those that the engine undid, Reported those that it reported instead.
	Edits, Repaired, Reported int
	// Fixed counts fields for which the server accepts no other value, Sampled the fields of CRDs that were not edited.
	Fixed, Sampled int
	// Upgrades, Restarts and Removals count these steps.
	Upgrades, Restarts, Removals int
	// Resent counts objects that were sent again after a restart.
	Resent int
	// Faults are the faults, with the release.
	Faults []string

	passes int
	fault  func(format string, args ...any)
	names  map[string]map[string]int
}

// Add adds the counts and names of another report.
func (r *Report) Add(o *Report) {
	r.Projects, r.Files, r.Objects = r.Projects+o.Projects, r.Files+o.Files, r.Objects+o.Objects
	r.Edits, r.Repaired, r.Reported = r.Edits+o.Edits, r.Repaired+o.Repaired, r.Reported+o.Reported
	r.Fixed, r.Sampled, r.Resent = r.Fixed+o.Fixed, r.Sampled+o.Sampled, r.Resent+o.Resent
	r.Upgrades, r.Restarts, r.Removals = r.Upgrades+o.Upgrades, r.Restarts+o.Restarts, r.Removals+o.Removals
	r.passes += o.passes
	r.Faults = append(r.Faults, o.Faults...)
	for class, examples := range o.names {
		for example, count := range examples {
			r.count(class, example, count)
		}
	}
}

// faultOf returns a function that adds faults of a release.
func (r *Report) faultOf(release string) func(string, ...any) {
	return func(format string, args ...any) {
		r.Faults = append(r.Faults, release+": "+fmt.Sprintf(format, args...))
	}
}

// name counts an example of a class.
func (r *Report) name(class, example string) { r.count(class, example, 1) }

func (r *Report) count(class, example string, count int) {
	if r.names == nil {
		r.names = map[string]map[string]int{}
	}
	if r.names[class] == nil {
		r.names[class] = map[string]int{}
	}
	r.names[class][example] += count
}

func (r *Report) refused(kind, name string, err error) {
	r.name("refused by the API server from every client", fmt.Sprintf("%s %s: %.150s", kind, name, err))
}

func (r *Report) notStored(kind string, at path) {
	r.name("stated and not stored by the API server", kind+" "+at.pattern())
}

func (r *Report) fixed(kind string, at path) {
	r.Fixed++
	r.name("fields for which the API server accepts no other value", kind+" "+at.pattern())
}

func (r *Report) leftBehind(kind, when string, at path) {
	r.name("fields that no manifest states, with another value "+when, kind+" "+at.pattern())
}

func (r *Report) resent(d apply.Decision) {
	r.Resent++
	for _, field := range d.Fields {
		r.name("fields that are sent again after a restart", fmt.Sprintf("%s %.300s", d.GVK.Kind, field))
	}
}

func (r *Report) reported(name string, edits []edit, err error) {
	r.Reported += len(edits)
	r.name("edits that are reported", fmt.Sprintf("%s %v: %.300s", name, edits, err))
}

// String returns the counts, what was named, and the faults.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d projects, %d files, %d objects, %d passes\n", r.Projects, r.Files, r.Objects, r.passes)
	fmt.Fprintf(&b, "%d edits: %d repaired, %d reported; %d fields accept no other value, %d fields of CRDs are not in the sample\n",
		r.Edits, r.Repaired, r.Reported, r.Fixed, r.Sampled)
	fmt.Fprintf(&b, "%d upgrades, %d restarts, after which %d objects were sent again, %d removals\n", r.Upgrades, r.Restarts, r.Resent, r.Removals)
	for _, class := range slices.Sorted(maps.Keys(r.names)) {
		examples := r.names[class]
		fmt.Fprintf(&b, "%s:\n", class)
		for _, example := range slices.Sorted(maps.Keys(examples)) {
			fmt.Fprintf(&b, "  %s (%d)\n", example, examples[example])
		}
	}
	fmt.Fprintf(&b, "%d faults\n", len(r.Faults))
	for _, fault := range r.Faults {
		fmt.Fprintf(&b, "  %s\n", fault)
	}
	return b.String()
}
