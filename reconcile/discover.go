package reconcile

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Discovery is the result of [Discover]: the usable and the skipped objects, each in the order of the list. The tracked
// reader lists by namespace and name, so a plan that is built from a Discovery does not depend on the order of events.
type Discovery[T client.Object] struct {
	// Found are the usable objects.
	Found []T
	// Skipped are the other objects, with the reasons.
	Skipped []Skipped
}

// Skipped is a discovered object that cannot be used.
type Skipped struct {
	// Key is the namespace and name of the object.
	Key client.ObjectKey
	// Reason reports why the object cannot be used and what is accepted.
	Reason error
}

// SkippedText lists the skipped objects with their reasons, for a condition or a log. It is empty when no object was
// skipped.
func (d Discovery[T]) SkippedText() string {
	texts := make([]string, len(d.Skipped))
	for i, s := range d.Skipped {
		texts[i] = fmt.Sprintf("%s: %v", s.Key, s.Reason)
	}
	return strings.Join(texts, "; ")
}

// Discover lists the objects that the options select and calls usable for each; the error of usable is the reason to skip
// the object. A nil usable accepts all objects. In a running controller the selector is recorded, so the owner is enqueued
// when an object gains the label, changes, loses the label or is deleted. A list whose items are not of type T is an error.
func Discover[T client.Object](
	ctx context.Context, r Reader, list client.ObjectList, usable func(T) error, opts ...client.ListOption,
) FetchResult[Discovery[T]] {
	var out Discovery[T]
	if err := r.List(ctx, list, opts...); err != nil {
		return FetchResult[Discovery[T]]{Error: err}
	}
	err := meta.EachListItem(list, func(item runtime.Object) error {
		object, ok := item.(T)
		if !ok {
			var want T
			return fmt.Errorf("discover %T: the list %T holds %T", want, list, item)
		}
		if usable != nil {
			if reason := usable(object); reason != nil {
				out.Skipped = append(out.Skipped, Skipped{Key: client.ObjectKeyFromObject(object), Reason: reason})
				return nil //nolint:nilerr // the result has the reason
			}
		}
		out.Found = append(out.Found, object)
		return nil
	})
	return FetchResult[Discovery[T]]{Value: out, Error: err}
}
