package reconciletest_test

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// applies sends an apply as a field manager.
func (w *recorder) applies(ctx context.Context, by string, u *unstructured.Unstructured, opts ...client.ApplyOption) {
	w.does(ctx, by+" applies", u, func() error {
		configuration := client.ApplyConfigurationFromUnstructured(u.DeepCopy())
		return w.Apply(ctx, configuration, append(opts, client.FieldOwner(by))...)
	})
}

func applySequences() []conformance {
	return []conformance{
		{name: "apply", sequence: func(ctx context.Context, w *recorder) {
			u := w.object(configMap)
			w.applies(ctx, "one", u)
			w.applies(ctx, "one", u)
			w.applies(ctx, "one", set(u, "w", "data", "l"))
			w.ownership(ctx, u)
			w.applies(ctx, "one", u)
			w.shows(ctx, u, "data")
			w.applies(ctx, "one", set(set(u, "w", "data", "m"), "x", "metadata", "labels", "l"))
			w.applies(ctx, "one", set(u, "1", "metadata", "resourceVersion"))
			w.applies(ctx, "one", set(u, "another", "metadata", "uid"))
			missing := set(set(w.object(configMap), "b", "metadata", "name"), "u", "metadata", "uid")
			w.applies(ctx, "one", missing)
			w.ownership(ctx, u)
		}},
		{name: "apply of two managers", sequence: func(ctx context.Context, w *recorder) {
			u := w.object(configMap)
			other := set(u, "w", "data", "k")
			w.applies(ctx, "one", u)
			w.applies(ctx, "two", other)
			w.applies(ctx, "two", u)
			w.ownership(ctx, u)
			w.applies(ctx, "two", other, client.ForceOwnership)
			w.applies(ctx, "two", other)
			w.ownership(ctx, u)
			w.applies(ctx, "one", u)
			w.applies(ctx, "two", w.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {l: w}}`))
			w.shows(ctx, u, "data")
			w.ownership(ctx, u)
		}},
		{name: "apply and update", sequence: func(ctx context.Context, w *recorder) {
			u := w.object(configMap)
			w.applies(ctx, "one", u)
			w.does(ctx, "update", u, func() error { return w.Update(ctx, set(w.live(ctx, u), "w", "data", "k"), writer) })
			w.ownership(ctx, u)
			w.applies(ctx, "one", u)
			w.applies(ctx, "one", u, client.ForceOwnership)
			w.ownership(ctx, u)
		}},
		{name: "apply of a status", sequence: func(ctx context.Context, w *recorder) {
			u := w.object(aWidget)
			w.applies(ctx, "one", u)
			condition := func(kind, status string) map[string]any {
				return map[string]any{
					"type": kind, "status": status, "reason": "R", "message": "", "lastTransitionTime": "2026-01-02T03:04:05Z",
				}
			}
			apply := func(by string, conditions ...any) {
				w.does(ctx, by+" applies the status", u, func() error {
					s := w.object(`{apiVersion: test.reconcilekit.dev/v1, kind: Widget, metadata: {name: a}}`)
					s.Object["status"] = map[string]any{"conditions": conditions}
					return w.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(s), client.FieldOwner(by))
				})
			}
			apply("one", condition("A", "True"), condition("B", "True"))
			apply("one", condition("A", "True"), condition("B", "True"))
			apply("two", condition("C", "False"))
			apply("two", condition("A", "False"))
			apply("one", condition("A", "False"))
			w.shows(ctx, u, "status")
			w.ownership(ctx, u)
			w.applies(ctx, "one", set(u, int64(2), "spec", "count"))
			with := set(u, int64(2), "spec", "count")
			// The API server stores a new resourceVersion of the same content if the second has changed, so the version is not compared.
			configuration := client.ApplyConfigurationFromUnstructured(set(with, "s", "status", "state"))
			w.log("another manager applies a status: %s", answer(w.Apply(ctx, configuration, client.FieldOwner("one"))))
			w.shows(ctx, u, "status", "state")
		}},
		{name: "apply to an object that is being deleted", sequence: func(ctx context.Context, w *recorder) {
			u := w.object(configMap)
			w.applies(ctx, "one", set(u, []any{"test/one"}, "metadata", "finalizers"))
			w.applies(ctx, "two", set(w.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}`), []any{"test/two"}, "metadata", "finalizers"))
			w.does(ctx, "delete", u, func() error { return w.Delete(ctx, u.DeepCopy()) })
			w.applies(ctx, "three", w.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {l: w}}`))
			w.shows(ctx, u, "metadata", "finalizers")
			w.applies(ctx, "three", set(u, []any{"test/three"}, "metadata", "finalizers"), client.ForceOwnership)
			w.applies(ctx, "one", u)
			w.shows(ctx, u, "metadata", "finalizers")
			w.ownership(ctx, u)
			w.applies(ctx, "two", w.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}`))
		}},
		{name: "apply of lists", sequence: func(ctx context.Context, w *recorder) {
			service := func(port int) *unstructured.Unstructured {
				u := w.object(`{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {clusterIP: None}}`)
				return set(u, []any{map[string]any{"name": "p", "port": int64(port), "protocol": "TCP"}}, "spec", "ports")
			}
			w.applies(ctx, "one", service(80))
			w.applies(ctx, "one", service(80))
			w.applies(ctx, "two", set(service(81), []any{map[string]any{"name": "q", "port": int64(81), "protocol": "TCP"}}, "spec", "ports"))
			w.ownership(ctx, service(80))
			w.applies(ctx, "one", service(82))
			w.shows(ctx, service(80), "spec", "ports")
		}},
		{name: "finalizers and references by apply", sequence: func(ctx context.Context, w *recorder) {
			u := w.object(configMap)
			held := u.DeepCopy()
			held.SetFinalizers([]string{"test/a"})
			w.applies(ctx, "one", held)
			other := w.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}`)
			other.SetFinalizers([]string{"test/b"})
			w.applies(ctx, "two", other)
			w.shows(ctx, u, "metadata", "finalizers")
			w.applies(ctx, "one", u)
			w.shows(ctx, u, "metadata", "finalizers")
			w.ownership(ctx, u)
		}},
	}
}
