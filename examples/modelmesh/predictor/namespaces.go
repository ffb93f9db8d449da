package predictor

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Namespaces reports which namespaces have a ModelMesh.
type Namespaces struct {
	// Reader reads namespaces. If it is nil, all namespaces have a ModelMesh. Set it before the first call.
	Reader client.Reader
	// Enabled reports whether a namespace has a ModelMesh. Required.
	Enabled func(*corev1.Namespace) bool
}

// Gone returns the reason why a namespace has no ModelMesh, or the empty string if it has one.
func (n *Namespaces) Gone(ctx context.Context, name string) (string, error) {
	if n.Reader == nil {
		return "", nil
	}
	found := &corev1.Namespace{}
	switch err := n.Reader.Get(ctx, client.ObjectKey{Name: name}, found); {
	case apierrors.IsNotFound(err):
		return "its namespace does not exist", nil
	case err != nil:
		return "", err
	case !found.DeletionTimestamp.IsZero() || found.Status.Phase == corev1.NamespaceTerminating:
		return "its namespace is being deleted", nil
	case !n.Enabled(found):
		return "ModelMesh is not enabled in its namespace", nil
	}
	return "", nil
}
