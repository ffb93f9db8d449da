package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// RequestAnnotation requests a reconciliation of the owner. Its value is any text, such as the time; a different value is a new request.
const RequestAnnotation = apply.DefaultDomain + "/reconcile-requested-at"

// handledName is the name of the annotation with the value of the last request that a controller has handled.
const handledName = "reconcile-handled-at"

// maxRequestToken is the maximum length of a value that is confirmed as it is.
const maxRequestToken = 256

// HandledAnnotation returns the annotation with which the controller confirms requests. It contains a hash of the field manager, because
// several controllers may reconcile a kind, and not every field manager is valid in a name.
func HandledAnnotation(fieldManager string) string {
	sum := sha256.Sum256([]byte(fieldManager))
	return hex.EncodeToString(sum[:5]) + "." + apply.DefaultDomain + "/" + handledName
}

// RequestToken returns the value of the request on the owner, empty if there is none. A long value is shortened to whole characters, because
// the confirmation has to be equal to it.
func RequestToken(owner metav1.Object) string {
	token := owner.GetAnnotations()[RequestAnnotation]
	return strings.ToValidUTF8(token[:min(len(token), maxRequestToken)], "")
}

// OnlyRequested reports whether an update of an owner has a new request, and changed nothing else but the status.
func OnlyRequested(before, after metav1.Object) bool {
	return RequestToken(after) != "" && RequestToken(before) != RequestToken(after) &&
		before.GetUID() == after.GetUID() &&
		before.GetGeneration() == after.GetGeneration() &&
		before.GetDeletionTimestamp().IsZero() == after.GetDeletionTimestamp().IsZero() &&
		maps.Equal(before.GetLabels(), after.GetLabels()) &&
		maps.Equal(withoutConfirmations(before.GetAnnotations(), RequestAnnotation), withoutConfirmations(after.GetAnnotations(), RequestAnnotation))
}

// SameAnnotations reports whether annotations are equal except for confirmations, which need no reconciliation.
func SameAnnotations(before, after map[string]string) bool {
	return maps.Equal(before, after) || maps.Equal(withoutConfirmations(before, ""), withoutConfirmations(after, ""))
}

// withoutConfirmations returns the annotations without the key and without confirmations.
func withoutConfirmations(annotations map[string]string, key string) map[string]string {
	out := make(map[string]string, len(annotations))
	for name, value := range annotations {
		if name != key && !strings.HasSuffix(name, "."+apply.DefaultDomain+"/"+handledName) {
			out[name] = value
		}
	}
	return out
}
