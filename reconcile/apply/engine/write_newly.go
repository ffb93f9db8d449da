package engine

import (
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// createDryRun returns the object that the API server would create from the intent, with a dry run of a create. The dry run uses a
// generated name, because the name of the object is taken. The result is nil without an error if the API server would accept the intent
// and the created object is unknown: if only values of the existing object are in conflict, such as a node port, or if the kind restricts
// names.
func createDryRun(p *pass, c *child) (map[string]any, error) {
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(c.content)}
	u.SetGroupVersionKind(c.kind.GVK)
	u.SetGenerateName(c.id.Key.Name)
	u.SetNamespace(c.id.Key.Namespace)
	err := p.env.client.Create(p.ctx, u, client.FieldOwner(c.manager), client.DryRunAll)
	switch {
	case err == nil:
		return u.Object, nil
	case collidesOnlyWithExisting(p, c, err):
		return nil, nil //nolint:nilnil // accepted, and not known
	case !refusesName(err):
		return nil, err
	}
	u = &unstructured.Unstructured{Object: runtime.DeepCopyJSON(c.content)}
	u.SetGroupVersionKind(c.kind.GVK)
	u.SetName(c.id.Key.Name)
	u.SetNamespace(c.id.Key.Namespace)
	err = p.env.client.Create(p.ctx, u, client.FieldOwner(c.manager), client.DryRunAll)
	if err == nil || apierrors.IsAlreadyExists(err) || collidesOnlyWithExisting(p, c, err) {
		return nil, nil //nolint:nilnil // as above
	}
	return nil, err
}

// refusesName reports whether the error is about the generated name, or about a part of the object that must match the name.
func refusesName(err error) bool {
	return apierrors.IsInvalid(err) && slices.ContainsFunc(causesOf(err), func(cause metav1.StatusCause) bool {
		return strings.HasPrefix(cause.Field, "metadata.")
	})
}
