package rights

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	internal "github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/rights"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// RefusedOnce returns a hook for [requests.Requests.Inject] that rejects the first write of each kind as an API server does if the
// operator's cache is stale: a server-side apply because another controller owns the child, any other patch of an entire object because
// it has changed. The operator must then read the live object, for which it may need a permission that it does not use otherwise. Events
// are not rejected, because client-go never retries a rejected event.
func RefusedOnce() func(requests.Request) *requests.Fault {
	var mu sync.Mutex

	refused := map[internal.Right]bool{}

	return func(r requests.Request) *requests.Fault {
		if r.Subresource != "" || r.Resource == "events" || r.DryRun || r.Verb != "apply" && r.Verb != "patch" {
			return nil
		}

		mu.Lock()
		defer mu.Unlock()

		of := internal.Right{Verb: r.Verb, Group: r.Group, Resource: r.Resource}
		if refused[of] {
			return nil
		}

		refused[of] = true

		if r.Verb == "patch" {
			return &requests.Fault{Err: apierrors.NewConflict(schema.GroupResource{Group: r.Group, Resource: r.Resource}, r.Name,
				errors.New("the object has been modified; please apply your changes to the latest version and try again"))}
		}

		return &requests.Fault{Err: apierrors.NewInvalid(schema.GroupKind{Group: r.Group, Kind: r.Resource}, r.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "ownerReferences"), "", "Only one reference can have Controller set to true"),
		})}
	}
}

// Outdated returns a copy of a child under another name, for the test to create: a child of an earlier version of the operator, which
// used another name. It has the labels, annotations and owner references of the child, so a restarted operator must recognise it as its
// own and delete it. It returns an error if the scheme does not contain the child's type.
func Outdated(child client.Object, name string, scheme *runtime.Scheme) (client.Object, error) {
	twin := &unstructured.Unstructured{}
	if err := scheme.Convert(child, twin, nil); err != nil {
		return nil, err
	}

	content := map[string]any{}

	for key, value := range twin.Object {
		if key != "status" && key != "metadata" {
			content[key] = value
		}
	}

	if spec, ok := content["spec"].(map[string]any); ok { // the API server set these only for the original
		for _, given := range []string{"clusterIP", "clusterIPs", "healthCheckNodePort", "volumeName"} {
			delete(spec, given)
		}
	}

	old := &unstructured.Unstructured{Object: content}
	old.SetNamespace(twin.GetNamespace())
	old.SetName(name)
	old.SetLabels(twin.GetLabels())
	old.SetAnnotations(twin.GetAnnotations())
	old.SetOwnerReferences(twin.GetOwnerReferences())
	old.SetManagedFields(twin.GetManagedFields()) // the label is no proof: our field manager must own it

	return old, nil
}

// CreateOutdated creates the result of [Outdated] under the field manager of the original, which proves the ownership to the engine.
func CreateOutdated(ctx context.Context, c client.Client, twin client.Object) error {
	var manager string

	for _, entry := range twin.GetManagedFields() {
		if entry.Operation == metav1.ManagedFieldsOperationApply {
			manager = entry.Manager

			break
		}
	}

	if manager == "" {
		return fmt.Errorf("create the outdated %s: no request applied the original", twin.GetName())
	}

	twin.SetManagedFields(nil)

	return c.Patch(ctx, twin, client.Apply, client.FieldOwner(manager), client.ForceOwnership) //nolint:staticcheck // an object, not an apply configuration
}
