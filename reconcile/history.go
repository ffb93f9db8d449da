package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ChildIndex names the field index by which [FetchChildren] lists: the UID of an
// object's controller. The option controller.Listed creates it.
const ChildIndex = "reconcilekit.dev/controller-uid"

// FetchChildren lists the owner's children of one kind: the objects of which it is the controller, made by the plan or by hand, in the
// namespace of the owner, sorted by name. The kind is declared with controller.Owns and controller.Listed; a child that appears, changes
// or goes wakes the owner. The options select further. Children without a controller reference, such as those of a group, are not found.
//
//	jobs := reconcile.FetchChildren[*batchv1.Job](ctx, r, rc.Object, &batchv1.JobList{})
func FetchChildren[T client.Object](
	ctx context.Context, r Reader, owner client.Object, list client.ObjectList, opts ...client.ListOption,
) FetchResult[[]T] {
	opts = append([]client.ListOption{
		client.InNamespace(owner.GetNamespace()), client.MatchingFields{ChildIndex: string(owner.GetUID())},
	}, opts...)
	listed := Discover[T](ctx, r, list, nil, opts...)
	if listed.Error != nil {
		return FetchResult[[]T]{Error: fmt.Errorf("list the children of %s: %w", owner.GetName(), listed.Error)}
	}
	return FetchResult[[]T]{Value: slices.DeleteFunc(listed.Value.Found, func(child T) bool { return !metav1.IsControlledBy(child, owner) })}
}

// Newest splits objects into the n that were created last, newest first, and the older ones. Of two that were created in one second the
// name that sorts last is the newer one. A negative n is none.
func Newest[T client.Object](objects []T, n int) (newest, older []T) {
	sorted := slices.Clone(objects)
	slices.SortFunc(sorted, func(a, b T) int {
		return cmp.Or(b.GetCreationTimestamp().Compare(a.GetCreationTimestamp().Time), cmp.Compare(b.GetName(), a.GetName()))
	})
	n = min(max(n, 0), len(sorted))
	return sorted[:n:n], sorted[n:]
}
