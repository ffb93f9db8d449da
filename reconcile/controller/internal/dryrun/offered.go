package dryrun

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracked"
)

// fieldManager is the field manager of the dry-run requests for manifests.
const fieldManager = "preview"

// Offered is a reader of owners that returns some owners as their manifests define them, and the others as stored.
type Offered struct {
	client.Reader
	Clock clock.PassiveClock // sets the creation time of new owners

	owners map[types.NamespacedName]client.Object
}

// Get implements client.Reader.
func (o *Offered) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	found, offered := o.owners[key]
	if !offered || reflect.TypeOf(found) != reflect.TypeOf(into) {
		return o.Reader.Get(ctx, key, into, opts...)
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(found.DeepCopyObject()).Elem())
	return nil
}

// errNotSelected is the error for a manifest of an owner that the controller does not select.
var errNotSelected = errors.New("the controller does not select it")

// Offer adds an owner from its manifest. If the owner exists, the stored object supplies the fields that the manifest omits. If asked
// is set, a dry-run request to the API server adds the defaults and returns refusals.
func (o *Offered) Offer(
	ctx context.Context, reads *tracked.Reads, asked client.Client, manifest *unstructured.Unstructured,
) (types.NamespacedName, error) {
	kind := reads.Kinds[0]
	key := kind.Name(client.ObjectKeyFromObject(manifest))
	name := declaration.Print(kind.GroupVersionKind) + " " + key.String()
	switch {
	case manifest.GroupVersionKind() != kind.GroupVersionKind:
		return key, fmt.Errorf("%s: the manifest is of version %s; the operator works with %s", name, manifest.GroupVersionKind().Version, kind.Version)
	case key.Namespace == "" && !kind.Cluster.Load():
		return key, fmt.Errorf("%s: the manifest has no namespace", name)
	}
	live, err := reads.Empty(kind)
	if err != nil {
		return key, err
	}
	found, err := tracked.IgnoreMissing(o.Reader.Get(ctx, key, live))
	if err != nil {
		return key, fmt.Errorf("%s: %w", name, err)
	}
	var content map[string]any
	if asked == nil {
		content, err = merged(live, found, manifest, o.Clock.Now())
	} else {
		content = manifest.DeepCopy().Object
		answer := &unstructured.Unstructured{Object: content}
		err = asked.Apply(ctx, client.ApplyConfigurationFromUnstructured(answer), client.ForceOwnership, client.FieldOwner(fieldManager), client.DryRunAll)
		content = answer.Object
	}
	if err != nil {
		return key, fmt.Errorf("%s: %w", name, err)
	}
	owner, err := reads.Empty(kind)
	if err == nil {
		err = into(content, owner)
	}
	if err != nil {
		return key, fmt.Errorf("%s: %w", name, err)
	}
	if !kind.Reconciles(owner) {
		return key, fmt.Errorf("%s: %w: want %s", name, errNotSelected, kind.Selection())
	}
	if o.owners == nil {
		o.owners = map[types.NamespacedName]client.Object{}
	}
	o.owners[key] = owner
	return key, nil
}

// into converts content to the Go type of the owner.
func into(content map[string]any, owner client.Object) error {
	if u, ok := owner.(*unstructured.Unstructured); ok {
		u.Object = content
		return nil
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(content, owner)
}

// merged returns the manifest with the metadata and the status of the existing owner. For a new owner it sets the fields that the API
// server would set.
func merged(live client.Object, found bool, manifest *unstructured.Unstructured, now time.Time) (map[string]any, error) {
	fresh := manifest.DeepCopy()
	if !found {
		fresh.SetUID(types.UID("preview-" + manifest.GetNamespace() + "-" + manifest.GetName()))
		fresh.SetGeneration(1)
		fresh.SetCreationTimestamp(metav1.NewTime(now.Truncate(time.Second)))
		return fresh.Object, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{Object: content}
	labels, annotations := out.GetLabels(), out.GetAnnotations()
	out.SetLabels(joined(labels, fresh.GetLabels()))
	out.SetAnnotations(joined(annotations, fresh.GetAnnotations()))
	if !equality.Semantic.DeepEqual(content["spec"], fresh.Object["spec"]) {
		out.SetGeneration(out.GetGeneration() + 1)
	}
	for field, value := range fresh.Object {
		switch field {
		case "metadata", "status":
		default:
			out.Object[field] = value
		}
	}
	return out.Object, nil
}

func joined(old, fresh map[string]string) map[string]string {
	if len(old) == 0 {
		return fresh
	}
	maps.Copy(old, fresh)
	return old
}
