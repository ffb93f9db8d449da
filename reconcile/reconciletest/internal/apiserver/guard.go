package apiserver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// guard handles the parts of an update that the store does not: it rejects a status with an outdated version and a custom resource
// without a version, and ignores the deletion timestamp.
func (w *Server) guard(gvk schema.GroupVersionKind, u *unstructured.Unstructured, subresource string) error {
	current := w.current(gvk, client.ObjectKeyFromObject(u))
	if current == nil {
		return nil
	}
	u.SetDeletionTimestamp(current.GetDeletionTimestamp())
	version := u.GetResourceVersion()
	switch {
	case version == "" && !clientgoscheme.Scheme.Recognizes(gvk):
		return apierrors.NewInvalid(gvk.GroupKind(), u.GetName(), field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), version, "must be specified for an update"),
		})
	case version != "" && version != current.GetResourceVersion() && subresource != "":
		return apierrors.NewConflict(w.resource(gvk), u.GetName(), errors.New(
			"the object has been modified; please apply your changes to the latest version and try again"))
	}
	return nil
}

// placed returns the client's error for a request about a namespaced object without a namespace. It depends on the verb: a patch is sent,
// to a path that does not exist on the server. Undefined kinds may be cluster-scoped.
func (w *Server) placed(gvk schema.GroupVersionKind, verb string, key client.ObjectKey) error {
	if key.Namespace != "" || !w.tracker.namespaced[gvk] {
		return nil
	}
	switch verb {
	case "create":
		return errors.New("an empty namespace may not be set during creation")
	case "patch":
		return apierrors.NewGenericServerResponse(http.StatusNotFound, verb, w.resource(gvk), key.Name, "404 page not found", 0, true)
	}
	return errors.New("an empty namespace may not be set when a resource name is provided")
}

// held replaces the finalizers of an object that is being deleted in a configuration without finalizers.
const held = "reconciletest/held"

// hold prevents the fake client from deleting an object when a configuration without finalizers is applied: it treats the configuration
// as the entire object. It reports whether the object is being deleted.
func (w *Server) hold(gvk schema.GroupVersionKind, configuration *unstructured.Unstructured) bool {
	current := w.current(gvk, client.ObjectKeyFromObject(configuration))
	if current == nil || current.GetDeletionTimestamp() == nil {
		return false
	}
	if len(configuration.GetFinalizers()) == 0 {
		configuration.SetFinalizers([]string{held})
	}
	return true
}

// precondition checks the preconditions of a delete.
func precondition(resource schema.GroupResource, old *unstructured.Unstructured, p *metav1.Preconditions) error {
	if p == nil {
		return nil
	}
	if p.UID != nil && *p.UID != old.GetUID() {
		return apierrors.NewConflict(resource, old.GetName(), fmt.Errorf(
			"precondition failed: UID in precondition: %v, UID in object meta: %v", *p.UID, old.GetUID()))
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != old.GetResourceVersion() {
		return apierrors.NewConflict(resource, old.GetName(), fmt.Errorf(
			"precondition failed: ResourceVersion in precondition: %v, ResourceVersion in object meta: %v",
			*p.ResourceVersion, old.GetResourceVersion()))
	}
	return nil
}

// immutableUID rejects a patch with the UID of another object.
func immutableUID(u *unstructured.Unstructured) error {
	return apierrors.NewInvalid(u.GroupVersionKind().GroupKind(), u.GetName(), field.ErrorList{
		field.Invalid(field.NewPath("metadata", "uid"), u.GetUID(), "field is immutable"),
	})
}

// added returns the elements of the second list that the first lacks.
func added(before, after []string) []string {
	return slices.DeleteFunc(slices.Clone(after), func(one string) bool { return slices.Contains(before, one) })
}
