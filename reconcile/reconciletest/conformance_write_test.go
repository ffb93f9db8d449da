package reconciletest_test

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	configMap = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v}}`
	aWidget   = `{apiVersion: test.reconcilekit.dev/v1, kind: Widget, metadata: {name: a}, spec: {count: 1}}`
)

// writer is the field manager of writes other than applies. Without it, the two API servers choose different names.
var writer = client.FieldOwner("writer")

func set(u *unstructured.Unstructured, value any, fields ...string) *unstructured.Unstructured {
	out := u.DeepCopy()
	if parent := fields[0]; len(fields) > 1 && out.Object[parent] == nil {
		delete(out.Object, parent)
	}
	if err := unstructured.SetNestedField(out.Object, value, fields...); err != nil {
		panic(err)
	}
	return out
}

func writeSequences() []conformance {
	return []conformance{
		{name: "create", known: []difference{
			{fake: "create with a version: BadRequest 400; not found", real: "create with a version:  500; not found"},
		}, sequence: func(ctx context.Context, w *recorder) {
			u := w.object(configMap)
			w.does(ctx, "create", u, func() error { return w.Create(ctx, u.DeepCopy(), writer) })
			w.does(ctx, "create again", u, func() error { return w.Create(ctx, u.DeepCopy(), writer) })
			versioned := set(w.object(aWidget), "7", "metadata", "resourceVersion")
			w.does(ctx, "create with a version", versioned, func() error { return w.Create(ctx, versioned.DeepCopy(), writer) })
			status := set(w.object(aWidget), "arbitrary", "status", "state")
			w.does(ctx, "create with a status", status, func() error { return w.Create(ctx, status.DeepCopy(), writer) })
			w.shows(ctx, status, "status")
			forged := set(set(w.object(aWidget), "u", "metadata", "uid"), "b", "metadata", "name")
			created := forged.DeepCopy()
			w.does(ctx, "create with a UID", forged, func() error { return w.Create(ctx, created, writer) })
			w.log("the UID is new: %t; the object is updated from the response: %t", created.GetUID() == "u", created.GetResourceVersion() != "")
			w.ownership(ctx, u)
		}},
		{name: "generated names", sequence: func(ctx context.Context, w *recorder) {
			u := w.object(`{apiVersion: v1, kind: ConfigMap, metadata: {generateName: a-}}`)
			err := w.Create(ctx, u, writer)
			w.log("create: %s; the name is %d long and begins with %s", answer(err), len(u.GetName()), u.GetName()[:2])
		}},
		{name: "update", sequence: func(ctx context.Context, w *recorder) {
			u := w.object(configMap)
			w.does(ctx, "update a missing object", u, func() error { return w.Update(ctx, u.DeepCopy(), writer) })
			first := w.does(ctx, "create", u, func() error { return w.Create(ctx, u.DeepCopy(), writer) })
			w.does(ctx, "update without a change", u, func() error { return w.Update(ctx, first.DeepCopy(), writer) })
			w.does(ctx, "update", u, func() error { return w.Update(ctx, set(first, "w", "data", "k"), writer) })
			w.does(ctx, "update of an old version", u, func() error { return w.Update(ctx, set(first, "x", "data", "k"), writer) })
			w.does(ctx, "update without a version", u, func() error { return w.Update(ctx, set(u, "y", "data", "k"), writer) })
			w.does(ctx, "update of another UID", u, func() error {
				return w.Update(ctx, set(set(u, "z", "data", "k"), "u", "metadata", "uid"), writer)
			})
			w.does(ctx, "update of the time of creation", u, func() error {
				return w.Update(ctx, set(u, time.Now().Add(time.Hour).UTC().Format(time.RFC3339), "metadata", "creationTimestamp"), writer)
			})
			w.shows(ctx, u, "data")
		}},
		{name: "generation and status", sequence: func(ctx context.Context, w *recorder) {
			u := w.object(aWidget)
			live := w.does(ctx, "create", u, func() error { return w.Create(ctx, u.DeepCopy(), writer) })
			w.does(ctx, "update without a version", u, func() error { return w.Update(ctx, set(u, int64(9), "spec", "count"), writer) })
			live = w.does(ctx, "update of a label", u, func() error { return w.Update(ctx, set(live, "y", "metadata", "labels", "x"), writer) })
			live = w.does(ctx, "update of the spec", u, func() error { return w.Update(ctx, set(live, int64(2), "spec", "count"), writer) })
			live = w.does(ctx, "update of the status past its subresource", u, func() error {
				return w.Update(ctx, set(live, "s", "status", "state"), writer)
			})
			live = w.does(ctx, "update of the status", u, func() error {
				return w.Status().Update(ctx, set(set(live, "s", "status", "state"), int64(7), "spec", "count"), writer)
			})
			w.shows(ctx, u, "spec")
			w.does(ctx, "update of the status without a change", u, func() error { return w.Status().Update(ctx, live.DeepCopy(), writer) })
			w.does(ctx, "update without the status", u, func() error {
				out := set(live, int64(3), "spec", "count")
				delete(out.Object, "status")
				return w.Update(ctx, out, writer)
			})
			w.does(ctx, "update of an old status", u, func() error {
				return w.Status().Update(ctx, set(live, "t", "status", "state"), writer)
			})
			w.does(ctx, "update with another generation", u, func() error {
				return w.Patch(ctx, u.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"generation":77}}`)), writer)
			})
			w.shows(ctx, u, "status")
			w.ownership(ctx, u)
			c := w.object(configMap)
			w.does(ctx, "create an object without a status", c, func() error { return w.Create(ctx, c.DeepCopy(), writer) })
			w.does(ctx, "update of a missing status subresource", c, func() error { return w.Status().Update(ctx, w.live(ctx, c), writer) })
		}},
		{name: "patches", sequence: func(ctx context.Context, w *recorder) {
			u := w.object(configMap)
			patch := func(what string, kind types.PatchType, text string) {
				w.does(ctx, what, u, func() error { return w.Patch(ctx, u.DeepCopy(), client.RawPatch(kind, []byte(text)), writer) })
				w.shows(ctx, u, "data")
			}
			patch("merge into nothing", types.MergePatchType, `{"data":{"k":"w"}}`)
			w.does(ctx, "create", u, func() error { return w.Create(ctx, u.DeepCopy(), writer) })
			patch("merge", types.MergePatchType, `{"data":{"l":"w"}}`)
			patch("merge without a change", types.MergePatchType, `{"data":{"l":"w"}}`)
			patch("merge a null", types.MergePatchType, `{"data":{"l":null}}`)
			patch("merge an old version", types.MergePatchType, `{"metadata":{"resourceVersion":"1"},"data":{"m":"w"}}`)
			patch("merge another UID", types.MergePatchType, `{"metadata":{"uid":"u"},"data":{"m":"w"}}`)
			patch("JSON", types.JSONPatchType, `[{"op":"add","path":"/data/n","value":"w"}]`)
			patch("JSON with a test that fails", types.JSONPatchType, `[{"op":"test","path":"/data/n","value":"x"},{"op":"remove","path":"/data/n"}]`)
			patch("strategic", types.StrategicMergePatchType, `{"data":{"o":"w"}}`)
			w.ownership(ctx, u)
			v := w.object(aWidget)
			w.does(ctx, "create", v, func() error { return w.Create(ctx, v.DeepCopy(), writer) })
			w.does(ctx, "strategic of a custom kind", v, func() error {
				return w.Patch(ctx, v.DeepCopy(), client.RawPatch(types.StrategicMergePatchType, []byte(`{"spec":{"count":2}}`)), writer)
			})
			w.does(ctx, "merge into the status", v, func() error {
				return w.Status().Patch(ctx, v.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"status":{"state":"s"},"spec":{"count":5}}`)), writer)
			})
			w.shows(ctx, v, "spec")
			w.shows(ctx, v, "status")
		}},
		{name: "dry runs", sequence: func(ctx context.Context, w *recorder) {
			u := w.object(configMap)
			dry := u.DeepCopy()
			w.does(ctx, "create", u, func() error { return w.Create(ctx, dry, client.DryRunAll, writer) })
			w.log("the response has a UID: %t", dry.GetUID() != "")
			live := w.does(ctx, "create without dry run", u, func() error { return w.Create(ctx, u.DeepCopy(), writer) })
			w.does(ctx, "update", u, func() error { return w.Update(ctx, set(live, "w", "data", "k"), client.DryRunAll, writer) })
			w.does(ctx, "patch", u, func() error {
				return w.Patch(ctx, u.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"data":{"l":"w"}}`)), client.DryRunAll, writer)
			})
			applied := set(u, "x", "data", "k")
			w.does(ctx, "apply", u, func() error {
				return w.Patch(ctx, applied, client.Apply, client.DryRunAll, client.ForceOwnership, client.FieldOwner("a")) //nolint:staticcheck // see prepare
			})
			k, _, _ := unstructured.NestedString(applied.Object, "data", "k")
			w.log("the response has k=%s", k)
			w.does(ctx, "delete", u, func() error { return w.Delete(ctx, u.DeepCopy(), client.DryRunAll) })
			w.ownership(ctx, u)
		}},
		{name: "reads", sequence: func(ctx context.Context, w *recorder) {
			for _, name := range []string{"b", "a", "c"} {
				u := set(w.object(configMap), name, "metadata", "name")
				u.SetLabels(map[string]string{"name": name})
				w.does(ctx, "create", u, func() error { return w.Create(ctx, u, writer) })
			}
			read := func(what string, opts ...client.ListOption) {
				list := &unstructured.UnstructuredList{}
				list.SetAPIVersion("v1")
				list.SetKind("ConfigMapList")
				err := w.List(ctx, list, append(opts, client.InNamespace(w.namespace))...)
				var names strings.Builder
				for i := range list.Items {
					if name := list.Items[i].GetName(); name != "kube-root-ca.crt" {
						names.WriteString(name)
					}
				}
				w.log("list %s: %s %s", what, answer(err), names.String())
			}
			read("all")
			read("by label", client.MatchingLabels{"name": "b"})
			read("by name", client.MatchingFields{"metadata.name": "c"})
			read("by a field that cannot be selected", client.MatchingFields{"data.k": "v"})
			missing := w.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: missing}}`)
			w.log("get: %s", answer(w.Get(ctx, client.ObjectKeyFromObject(missing), missing)))
		}},
		{name: "watch", sequence: watched},
		{name: "namespaces", known: []difference{{
			fake: "create: ok; exists: uid true, version true, created true, generation 0",
			real: "create: NotFound 404; not found",
		}}, sequence: func(ctx context.Context, w *recorder) {
			u := w.object(configMap)
			u.SetNamespace("nowhere")
			w.does(ctx, "create", u, func() error { return w.Create(ctx, u.DeepCopy(), writer) })
		}},
		{name: "validation", sequence: func(ctx context.Context, w *recorder) {
			u := set(w.object(aWidget), int64(-1), "spec", "count")
			w.does(ctx, "a count below the minimum", u, func() error { return w.Create(ctx, u.DeepCopy(), writer) })
		}},
		{name: "unknown fields", sequence: func(ctx context.Context, w *recorder) {
			u := set(w.object(aWidget), "x", "spec", "unknown")
			w.does(ctx, "create", u, func() error { return w.Create(ctx, u.DeepCopy(), writer) })
			w.shows(ctx, u, "spec")
		}},
	}
}

// watched compares the events of watches.
func watched(ctx context.Context, w *recorder) {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("test.reconcilekit.dev/v1")
	list.SetKind("WidgetList")
	watching, err := w.Watch(ctx, list, client.InNamespace(w.namespace))
	if err != nil {
		w.log("watch: %s", answer(err))
		return
	}
	defer watching.Stop()
	u := w.object(aWidget)
	u.SetFinalizers([]string{"test/hold"})
	live := w.does(ctx, "create", u, func() error { return w.Create(ctx, u.DeepCopy(), writer) })
	w.does(ctx, "update without a change", u, func() error { return w.Update(ctx, live.DeepCopy(), writer) })
	w.does(ctx, "dry run", u, func() error { return w.Update(ctx, set(live, int64(8), "spec", "count"), client.DryRunAll, writer) })
	live = w.does(ctx, "update", u, func() error { return w.Update(ctx, set(live, int64(2), "spec", "count"), writer) })
	live = w.does(ctx, "delete", u, func() error { return w.Delete(ctx, u.DeepCopy()) })
	live.SetFinalizers(nil)
	w.does(ctx, "let go", u, func() error { return w.Update(ctx, live, writer) })
	for range 4 {
		select {
		case event := <-watching.ResultChan():
			got, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				w.log("%s of a %T", event.Type, event.Object)
				continue
			}
			count, _, _ := unstructured.NestedInt64(got.Object, "spec", "count")
			w.log("%s with count %d, held by %d%s", event.Type, count, len(got.GetFinalizers()), deleting(got))
		case <-time.After(time.Minute):
			w.log("no event")
		}
	}
}
