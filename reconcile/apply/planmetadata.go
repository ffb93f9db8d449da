package apply

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Metadata plans labels, annotations and finalizers of the owner itself; other
// fields of wanted must be empty. What was planned before and is not any more
// is removed; what others have put there stays. A value that another manager
// has set differently is reported as [ContestedError] and left to it, unless
// [Force] takes it, for example
// Force(`metadata.annotations["example.com/class"]`).
//
// Labels and annotations need no finalizer. A finalizer of the product is there
// as long as the engine's own, which comes with it, and goes with that when the
// deletion of the owner is done. Of an owner that is being deleted nothing else
// is written. Calls add up; of a key that is planned twice the later one counts.
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

// overlaid returns the entries of both, those of b where both have one.
func overlaid(a, b map[string]string) map[string]string {
	if len(a) == 0 {
		return b
	}
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}
