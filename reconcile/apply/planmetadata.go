package apply

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Metadata plans labels, annotations and finalizers of the owner itself; other fields of wanted must be empty. Entries that left the plan
// are removed. Entries of other field managers stay. If another manager has set a different value, the engine reports a [ContestedError]
// and leaves the value alone, unless [Force] takes it, for example Force(`metadata.annotations["example.com/class"]`).
//
// Labels and annotations do not require the engine's finalizer. A planned finalizer does: both are added and, when the deletion of the
// owner is complete, removed together. On an owner that is being deleted nothing else is written. Several calls are merged; for a key that
// is planned twice the later value counts.
func (p *Plan) Metadata(wanted metav1.ObjectMeta, opts ...ChildOption) {
	if p.Owner == nil {
		p.Owner = &Child{Mode: Contribute}
	} else if planned := p.Owner.Object; planned != nil {
		wanted.Labels = overlaid(planned.GetLabels(), wanted.Labels)
		wanted.Annotations = overlaid(planned.GetAnnotations(), wanted.Annotations)
		wanted.Finalizers = slices.Compact(slices.Sorted(slices.Values(slices.Concat(planned.GetFinalizers(), wanted.Finalizers))))
	}
	p.Owner.Object = &metav1.PartialObjectMetadata{ObjectMeta: wanted}
	for _, opt := range opts {
		opt.ApplyToChild(p.Owner)
	}
}

// overlaid merges both maps. Entries of b win.
func overlaid(a, b map[string]string) map[string]string {
	if len(a) == 0 {
		return b
	}
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}
