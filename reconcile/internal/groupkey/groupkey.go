package groupkey

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Value returns the value of [apply.GroupAnnotation] for the key.
func Value(kind string, key types.NamespacedName) string {
	return kind + "/" + key.Namespace + "/" + key.Name
}

// A group has no object to record its parts of shared objects. Each group sets its own annotation on such an object, under its own field
// manager. The annotation maps the object to the group, and a group finds its parts in the cache by their field manager.

// Values returns the values of [apply.GroupAnnotation] of the groups that own an object, or share it, sorted.
func Values(o metav1.Object) []string {
	var out []string
	for name, value := range o.GetAnnotations() {
		if name == apply.GroupAnnotation || name == SharingAnnotation(value) {
			out = append(out, value)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// SharingAnnotation returns the annotation of a group on shared objects.
func SharingAnnotation(value string) string { return apply.GroupAnnotation + "-" + ShortHash(value) }

// ShortHash returns a hash that is short enough for the name of an annotation.
func ShortHash(text string) string {
	const width = 16
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:width])
}
