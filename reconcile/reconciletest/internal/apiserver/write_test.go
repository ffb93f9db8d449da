package apiserver_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/apiserver"
)

func schemeOf(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, widget.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// serverWith returns a server for built-in kinds and widgets, with the objects. Its clock starts at the beginning of 2026.
func serverWith(t *testing.T, manifests ...string) *apiserver.Server {
	t.Helper()
	scheme := schemeOf(t)
	blueprint, err := apiserver.NewBlueprint(scheme, []*apiextensionsv1.CustomResourceDefinition{widget.CRD()})
	if err != nil {
		t.Fatal(err)
	}
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	server := apiserver.New(scheme, blueprint, clock, map[string]types.UID{"ConfigMap default/known": "reserved"})
	for _, manifest := range manifests {
		if err := server.Client.Create(t.Context(), parse(t, manifest)); err != nil {
			t.Fatalf("%s: %v", manifest, err)
		}
	}
	return server
}

func parse(t *testing.T, manifest string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &u.Object); err != nil {
		t.Fatalf("%s: %v", manifest, err)
	}
	return u
}

// read returns the stored object, or nil if it does not exist.
func read(t *testing.T, c client.Client, like *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(like.GroupVersionKind())
	switch err := c.Get(t.Context(), client.ObjectKeyFromObject(like), u); {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		t.Fatal(err)
	}
	return u
}

const (
	settings = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}, data: {x: "1"}}`
	gadget   = `{apiVersion: test.reconcilekit.dev/v1, kind: Widget, metadata: {name: w, namespace: default}, spec: {count: 1}}`
	leaving  = `{apiVersion: v1, kind: ConfigMap, metadata: {name: going, namespace: default, finalizers: [test/hold]}}`
)

func with(u *unstructured.Unstructured, change func(u *unstructured.Unstructured)) *unstructured.Unstructured {
	u = u.DeepCopy()
	change(u)
	return u
}

func version(text string) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) { u.SetResourceVersion(text) }
}

func uid(text types.UID) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) { u.SetUID(text) }
}

func merge(text string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(text)) }

func applied(u *unstructured.Unstructured) runtime.ApplyConfiguration {
	return client.ApplyConfigurationFromUnstructured(u)
}

// TestRefused checks that a rejected request has the reason of a real API server, names the resource and changes nothing.
func TestRefused(t *testing.T) {
	t.Parallel()
	const none = `{apiVersion: v1, kind: ConfigMap, metadata: {name: none, namespace: default}}`
	by, stale := client.FieldOwner("test"), func(u *unstructured.Unstructured) { u.SetResourceVersion("999") }
	wrongUID, wrongVersion := types.UID("other"), "999"
	for name, c := range map[string]struct {
		on   string
		do   func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error
		want metav1.StatusReason
		text string
	}{
		"create again": {settings, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Create(ctx, with(u, version("")))
		}, metav1.StatusReasonAlreadyExists, `configmaps "a" already exists`},
		"create with a version": {settings, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Create(ctx, with(u, func(u *unstructured.Unstructured) { u.SetName("b") }))
		}, metav1.StatusReasonBadRequest, "resourceVersion can not be set"},
		"get": {none, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Get(ctx, client.ObjectKeyFromObject(u), u)
		}, metav1.StatusReasonNotFound, `configmaps "none" not found`},
		"update of a missing object": {none, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Update(ctx, u)
		}, metav1.StatusReasonNotFound, `configmaps "none" not found`},
		"stale update": {settings, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Update(ctx, with(u, stale))
		}, metav1.StatusReasonConflict, "object was modified"},
		"update of another object": {settings, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Update(ctx, with(u, uid("other")))
		}, metav1.StatusReasonConflict, "UID in precondition: other"},
		"update without a version": {gadget, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Update(ctx, with(u, version("")))
		}, metav1.StatusReasonInvalid, "metadata.resourceVersion: Invalid value: \"\": must be specified for an update"},
		"stale status": {gadget, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Status().Update(ctx, with(u, stale))
		}, metav1.StatusReasonConflict, `widgets.test.reconcilekit.dev "w"`},
		"status of a kind without one": {settings, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Status().Update(ctx, u)
		}, metav1.StatusReasonNotFound, ""},
		"merge patch of a missing object": {none, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Patch(ctx, u, merge(`{"data":{"x":"2"}}`))
		}, metav1.StatusReasonNotFound, `configmaps "none" not found`},
		"stale merge": {settings, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Patch(ctx, u, merge(`{"metadata":{"resourceVersion":"999"},"data":{"x":"2"}}`))
		}, metav1.StatusReasonConflict, "object was modified"},
		"merge of another object": {settings, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Patch(ctx, u, merge(`{"metadata":{"uid":"other"}}`))
		}, metav1.StatusReasonInvalid, "metadata.uid: Invalid value: \"other\": field is immutable"},
		"JSON patch whose test fails": {settings, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Patch(ctx, u, client.RawPatch(types.JSONPatchType, []byte(`[{"op":"test","path":"/data/x","value":"9"}]`)))
		}, metav1.StatusReasonInvalid, "/data/x"},
		"strategic merge of a custom resource": {gadget, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Patch(ctx, u, client.RawPatch(types.StrategicMergePatchType, []byte(`{"spec":{"count":2}}`)))
		}, metav1.StatusReasonUnsupportedMediaType, "strategic merge patches need a built-in kind"},
		"strategic merge patch of a missing object": {none, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Patch(ctx, u, client.RawPatch(types.StrategicMergePatchType, []byte(`{"data":{"x":"2"}}`)))
		}, metav1.StatusReasonNotFound, `configmaps "none" not found`},
		"broken strategic merge": {settings, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Patch(ctx, u, client.RawPatch(types.StrategicMergePatchType, []byte(`{"data":`)))
		}, metav1.StatusReasonBadRequest, ""},
		"broken apply": {settings, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Patch(ctx, u, client.RawPatch(types.ApplyPatchType, []byte("a: [")), by)
		}, metav1.StatusReasonBadRequest, "error decoding YAML"},
		"apply to another object": {settings, func(ctx context.Context, c client.Client, _ *unstructured.Unstructured) error {
			return c.Apply(ctx, applied(with(parse(t, settings), uid("other"))), by)
		}, metav1.StatusReasonInvalid, "field is immutable"},
		"apply against another manager": {settings, func(ctx context.Context, c client.Client, _ *unstructured.Unstructured) error {
			return c.Apply(ctx, applied(parse(t, strings.Replace(settings, `"1"`, `"2"`, 1))), by)
		}, metav1.StatusReasonConflict, ".data.x"},
		"stale apply": {settings, func(ctx context.Context, c client.Client, _ *unstructured.Unstructured) error {
			return c.Apply(ctx, applied(with(parse(t, settings), stale)), by)
		}, metav1.StatusReasonConflict, "object was modified"},
		"apply of an invalid status": {gadget, func(ctx context.Context, c client.Client, _ *unstructured.Unstructured) error {
			u := parse(t, `{apiVersion: test.reconcilekit.dev/v1, kind: Widget, metadata: {name: w, namespace: default}, status: {count: many}}`)
			return c.Status().Apply(ctx, applied(u), by)
		}, metav1.StatusReasonUnknown, "status.count"},
		"delete of a missing object": {none, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Delete(ctx, u)
		}, metav1.StatusReasonNotFound, `configmaps "none" not found`},
		"delete of another object": {settings, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Delete(ctx, u, client.Preconditions{UID: &wrongUID})
		}, metav1.StatusReasonConflict, "UID in precondition: other"},
		"delete of another version": {settings, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Delete(ctx, u, client.Preconditions{ResourceVersion: &wrongVersion})
		}, metav1.StatusReasonConflict, "ResourceVersion in precondition: 999"},
		"delete of another version of many": {settings, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.DeleteAllOf(ctx, u, client.InNamespace("default"), client.Preconditions{ResourceVersion: &wrongVersion})
		}, metav1.StatusReasonConflict, "ResourceVersion in precondition: 999"},
		"create without a namespace": {settings, func(ctx context.Context, c client.Client, _ *unstructured.Unstructured) error {
			return c.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
		}, metav1.StatusReasonUnknown, "an empty namespace may not be set during creation"},
		"apply without a namespace": {settings, func(ctx context.Context, c client.Client, _ *unstructured.Unstructured) error {
			return c.Apply(ctx, applied(parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}`)), by)
		}, metav1.StatusReasonNotFound, "the server could not find the requested resource"},
		"get without a namespace": {gadget, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Get(ctx, client.ObjectKey{Name: "w"}, u)
		}, metav1.StatusReasonUnknown, "an empty namespace may not be set when a resource name is provided"},
		"update without a namespace": {settings, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Update(ctx, with(u, func(u *unstructured.Unstructured) { u.SetNamespace("") }))
		}, metav1.StatusReasonUnknown, "an empty namespace may not be set when a resource name is provided"},
		"delete without a namespace": {settings, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Delete(ctx, with(u, func(u *unstructured.Unstructured) { u.SetNamespace("") }))
		}, metav1.StatusReasonUnknown, "an empty namespace may not be set when a resource name is provided"},
		"create without a name": {settings, func(ctx context.Context, c client.Client, _ *unstructured.Unstructured) error {
			return c.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default"}})
		}, metav1.StatusReasonInvalid, "metadata.name: Required value"},
		"apply without a field manager": {settings, func(ctx context.Context, c client.Client, _ *unstructured.Unstructured) error {
			return c.Apply(ctx, applied(parse(t, settings)))
		}, metav1.StatusReasonInvalid, "fieldManager: Required value"},
		"a create by apply of the first object": {settings, func(ctx context.Context, c client.Client, _ *unstructured.Unstructured) error {
			return c.Apply(ctx, applied(with(parse(t, settings), version("1"))), by, client.ForceOwnership)
		}, metav1.StatusReasonConflict, "object was modified"},
		"list by a field without objects": {settings, func(ctx context.Context, c client.Client, _ *unstructured.Unstructured) error {
			return c.List(ctx, &corev1.SecretList{}, client.MatchingFields{"type": "Opaque"})
		}, metav1.StatusReasonBadRequest, "field label not supported: type"},
		"watch by a field": {settings, func(ctx context.Context, c client.Client, _ *unstructured.Unstructured) error {
			_, err := c.(client.WithWatch).Watch(ctx, &corev1.ConfigMapList{}, client.MatchingFields{"data.x": "1"})
			return err
		}, metav1.StatusReasonBadRequest, "field label not supported: data.x"},
		"delete of many by a field": {settings, func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.DeleteAllOf(ctx, u, client.InNamespace("default"), client.MatchingFields{"data.x": "1"})
		}, metav1.StatusReasonBadRequest, "field label not supported: data.x"},
		"list by a field": {settings, func(ctx context.Context, c client.Client, _ *unstructured.Unstructured) error {
			return c.List(ctx, &corev1.ConfigMapList{}, client.MatchingFields{"data.x": "1"})
		}, metav1.StatusReasonBadRequest, "field label not supported: data.x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serverWith(t, settings, gadget)
			u := parse(t, c.on)
			if stored := read(t, server.Client, u); stored != nil {
				u = stored
			}
			before, revision := read(t, server.Client, u), server.Revision()
			err := c.do(t.Context(), server.Client, u)
			if err == nil || apierrors.ReasonForError(err) != c.want || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %q for the reason %q, want the reason %q, and %q", err, apierrors.ReasonForError(err), c.want, c.text)
			}
			if diff := cmp.Diff(before, read(t, server.Client, parse(t, c.on))); diff != "" || server.Revision() != revision {
				t.Errorf("revision %d, was %d (-before +after):\n%s", server.Revision(), revision, diff)
			}
		})
	}
}
