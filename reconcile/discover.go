package reconcile

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Discovery is what a search for objects that offer themselves by a label has found: those that can be used and those that
// cannot, each in the order of the list. The tracked reader lists by namespace and name, so that a plan made from it does
// not depend on the order of events.
type Discovery[T client.Object] struct {
	// Found can be used.
	Found []T
	// Skipped cannot.
	Skipped []Skipped
}

// Skipped is an object that was discovered and cannot be used.
type Skipped struct {
	// Key is its namespace and name.
	Key client.ObjectKey
	// Reason reports why, and what would be right.
	Reason error
}

// SkippedText names the objects that were skipped and why, empty when there are none. It is a message for a condition or a log.
func (d Discovery[T]) SkippedText() string {
	texts := make([]string, len(d.Skipped))
	for i, s := range d.Skipped {
		texts[i] = fmt.Sprintf("%s: %v", s.Key, s.Reason)
	}
	return strings.Join(texts, "; ")
}

// Discover lists the objects that the options select and asks usable about each; its error is the reason to skip one. Nil
// takes all of them. In a running controller the list is remembered by its selector, so that an object which gets the
// label, changes, loses the label or goes wakes the owner. A list that holds something else than T is an error.
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
				return nil //nolint:nilerr // it is in the result
			}
		}
		out.Found = append(out.Found, object)
		return nil
	})
	return FetchResult[Discovery[T]]{Value: out, Error: err}
}
