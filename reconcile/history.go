package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ChildIndex is the name of the field index with which [FetchChildren] lists: the UID of an object's controller. The option
// controller.Listed creates the index.
const ChildIndex = "reconcilekit.dev/controller-uid"

// FetchChildren lists the owner's children of one kind: the objects in the owner's namespace whose controller is the owner,
// whether the plan or a user created them, sorted by name. Declare the kind with controller.Owns and controller.Listed. The
// owner is enqueued when a child appears, changes or is deleted. The options restrict the selection. Children without a
// controller reference, such as those of a group, are not found.
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

// Newest splits objects into the n that were created last, newest first, and the older ones. Of two objects that were
// created in the same second, the one whose name sorts last is newer. A negative n counts as 0.
func Newest[T client.Object](objects []T, n int) (newest, older []T) {
	sorted := slices.Clone(objects)
	slices.SortFunc(sorted, func(a, b T) int {
		return cmp.Or(b.GetCreationTimestamp().Compare(a.GetCreationTimestamp().Time), cmp.Compare(b.GetName(), a.GetName()))
	})
	n = min(max(n, 0), len(sorted))
	return sorted[:n:n], sorted[n:]
}
