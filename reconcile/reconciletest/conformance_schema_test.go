package reconciletest_test

import (
	"context"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/apiserver"
)

// strictDefinition has each kind of rule that a schema can contain.
const strictDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: valves.test.reconcilekit.dev}
spec:
  group: test.reconcilekit.dev
  names: {kind: Valve, listKind: ValveList, plural: valves, singular: valve}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        x-kubernetes-validations:
        - {rule: "self.metadata.name != 'forbidden'"}
        - {rule: "!has(self.status) || !has(self.status.open) || self.status.open <= self.spec.most"}
        properties:
          spec:
            type: object
            required: [size]
            x-kubernetes-validations:
            - {rule: "!has(self.least) || self.least <= self.most", message: least is above most}
            properties:
              size:
                type: string
                enum: [small, large]
                x-kubernetes-validations: [{rule: self == oldSelf, message: is immutable}]
              least: {type: integer, minimum: 0}
              most: {type: integer, default: 10, maximum: 100}
              ratio: {type: number}
              label: {type: string, maxLength: 8, pattern: "^[a-z]*$"}
              serial:
                type: string
                maxLength: 8
                x-kubernetes-validations:
                - {rule: "oldSelf.hasValue() || self.startsWith('new')", optionalOldSelf: true}
              port: {x-kubernetes-int-or-string: true}
              tags: {type: array, maxItems: 3, items: {type: string, maxLength: 8}, x-kubernetes-list-type: set}
              ends:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name: {type: string}
                    side: {type: string, default: left, enum: [left, right]}
              extra: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status:
            type: object
            properties:
              phase: {type: string, enum: [Open, Shut]}
              open: {type: integer}
`

const aValve = `{apiVersion: test.reconcilekit.dev/v1, kind: Valve, metadata: {name: a}, spec: {size: small}}`

// definition reads a CRD.
func definition(text string) *apiextensionsv1.CustomResourceDefinition {
	out := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(text), out); err != nil {
		panic(err)
	}
	return out
}

func strictCRD() *apiextensionsv1.CustomResourceDefinition { return definition(strictDefinition) }

// gateCRD is the strict definition under another name. A sequence makes it stricter.
func gateCRD() *apiextensionsv1.CustomResourceDefinition {
	return definition(strings.NewReplacer("Valve", "Gate", "valve", "gate").Replace(strictDefinition))
}

// stricter removes a value from the enum of the sides, and shortens the maximum length of labels.
func stricter(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	fields := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties
	spec := fields["spec"]
	side := spec.Properties["ends"].Items.Schema.Properties["side"]
	side.Enum = side.Enum[:1]
	spec.Properties["ends"].Items.Schema.Properties["side"] = side
	label, length := spec.Properties["label"], int64(3)
	label.MaxLength = &length
	spec.Properties["label"] = label
	spec.XValidations = append(spec.XValidations, apiextensionsv1.ValidationRule{Rule: "!has(self.tags) || !('old' in self.tags)"})
	fields["spec"] = spec
	return crd
}

// schemaSequences tests the rules of a CRD.
func schemaSequences() []conformance {
	create := func(ctx context.Context, w *recorder, what string, value any, fields ...string) {
		u := w.object(aValve)
		if len(fields) > 0 {
			u = set(u, value, fields...)
		}
		w.does(ctx, what, u, func() error { return w.Create(ctx, u.DeepCopy(), writer) })
	}
	end := func(name string) map[string]any { return map[string]any{"name": name} }
	return []conformance{
		{name: "validation of values", sequence: func(ctx context.Context, w *recorder) {
			create(ctx, w, "outside the enum", "medium", "spec", "size")
			create(ctx, w, "below the minimum", int64(-1), "spec", "least")
			create(ctx, w, "above the maximum", int64(101), "spec", "most")
			create(ctx, w, "too long", "abcdefghi", "spec", "label")
			create(ctx, w, "against the pattern", "A", "spec", "label")
			create(ctx, w, "of another type", int64(1), "spec", "label")
			create(ctx, w, "a fraction for an integer", 1.5, "spec", "least")
			create(ctx, w, "an object for an integer or a string", map[string]any{}, "spec", "port")
			create(ctx, w, "a map for a list", map[string]any{}, "spec", "tags")
			create(ctx, w, "without a required field", map[string]any{"least": int64(1)}, "spec")
			create(ctx, w, "too many", []any{"a", "b", "c", "d"}, "spec", "tags")
			create(ctx, w, "duplicates in a set", []any{"a", "a"}, "spec", "tags")
			create(ctx, w, "duplicate keys in a list map", []any{end("a"), end("a")}, "spec", "ends")
			create(ctx, w, "an end without a name", []any{map[string]any{}}, "spec", "ends")
			create(ctx, w, "an integer for a number", int64(2), "spec", "ratio")
		}},
		{name: "rules in CEL", sequence: func(ctx context.Context, w *recorder) {
			create(ctx, w, "against a rule about two fields", int64(11), "spec", "least")
			create(ctx, w, "against a rule about the name", "forbidden", "metadata", "name")
			create(ctx, w, "against a transition rule", "old-1", "spec", "serial")
			create(ctx, w, "following all rules", "new-1", "spec", "serial")
			u := w.object(aValve)
			update := func(what string, value any, fields ...string) {
				w.does(ctx, what, u, func() error { return w.Update(ctx, set(w.live(ctx, u), value, fields...), writer) })
			}
			update("of an immutable field", "large", "spec", "size")
			update("against a rule for creation", "old-2", "spec", "serial")
			update("against a rule about two fields", int64(11), "spec", "least")
			update("of a label", "x", "metadata", "labels", "l")
			w.does(ctx, "patch of an immutable field", u, func() error {
				return w.Patch(ctx, u.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"size":"large"}}`)), writer)
			})
			w.applies(ctx, "one", set(u, int64(3), "spec", "least"))
			w.applies(ctx, "one", set(u, int64(30), "spec", "least"))
			w.applies(ctx, "one", set(set(u, "large", "spec", "size"), int64(3), "spec", "least"), client.ForceOwnership)
			w.does(ctx, "dry run", u, func() error {
				return w.Update(ctx, set(w.live(ctx, u), "large", "spec", "size"), client.DryRunAll, writer)
			})
			w.shows(ctx, u, "spec")
		}},
		{name: "validation of the status", sequence: func(ctx context.Context, w *recorder) {
			create(ctx, w, "a status outside the enum, which is dropped", "Ajar", "status", "phase")
			u := w.object(aValve)
			status := func(what string, value any, field string) {
				w.does(ctx, what, u, func() error { return w.Status().Update(ctx, set(w.live(ctx, u), value, "status", field), writer) })
			}
			status("outside the enum", "Ajar", "phase")
			status("in the enum", "Shut", "phase")
			status("of another type", "much", "open")
			status("against a rule about spec and status", int64(11), "open")
			status("following that rule", int64(10), "open")
			status("unknown", "x", "unknown")
			w.shows(ctx, u, "status")
			w.does(ctx, "update against a rule about spec and status", u, func() error {
				return w.Update(ctx, set(w.live(ctx, u), int64(9), "spec", "most"), writer)
			})
			w.does(ctx, "a patch outside the enum", u, func() error {
				return w.Status().Patch(ctx, u.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Ajar"}}`)), writer)
			})
			w.does(ctx, "an apply outside the enum", u, func() error {
				s := set(w.object(`{apiVersion: test.reconcilekit.dev/v1, kind: Valve, metadata: {name: a}}`), "Ajar", "status", "phase")
				return w.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(s), client.FieldOwner("one"), client.ForceOwnership)
			})
		}},
		{name: "defaults and unknown fields", sequence: func(ctx context.Context, w *recorder) {
			u := set(w.object(aValve), map[string]any{
				"size": "small", "unknown": "x", "ends": []any{map[string]any{"name": "a", "unknown": "x"}},
				"extra": map[string]any{"unknown": "x"},
			}, "spec")
			w.does(ctx, "create", u, func() error { return w.Create(ctx, u.DeepCopy(), writer) })
			w.shows(ctx, u, "spec")
			w.does(ctx, "merge", u, func() error {
				return w.Patch(ctx, u.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"most":null,"more":"x"}}`)), writer)
			})
			w.shows(ctx, u, "spec")
		}},
		{name: "ratcheting", sequence: ratcheted},
	}
}

// ratcheted changes an object that a stricter CRD makes invalid. Unchanged fields are accepted.
func ratcheted(ctx context.Context, w *recorder) {
	u := set(w.object(strings.ReplaceAll(aValve, "Valve", "Gate")), map[string]any{
		"size": "small", "label": "abcdef", "tags": []any{"old"},
		"ends": []any{map[string]any{"name": "a", "side": "right"}, map[string]any{"name": "b"}},
	}, "spec")
	u.SetFinalizers([]string{"test/hold"})
	wrong := set(set(u, "wrong", "metadata", "name"), []any{map[string]any{"name": "a", "side": "right"}}, "spec", "ends")
	w.redefine(ctx, gateCRD(), wrong, true)
	w.does(ctx, "create", u, func() error { return w.Create(ctx, u.DeepCopy(), writer) })
	w.redefine(ctx, stricter(gateCRD()), wrong, false)
	update := func(what string, value any, fields ...string) {
		w.does(ctx, what, u, func() error { return w.Update(ctx, set(w.live(ctx, u), value, fields...), writer) })
	}
	w.does(ctx, "create another one", wrong, func() error { return w.Create(ctx, wrong.DeepCopy(), writer) })
	update("of a label", "x", "metadata", "labels", "l")
	w.does(ctx, "of a status", u, func() error { return w.Status().Update(ctx, set(w.live(ctx, u), "Shut", "status", "phase"), writer) })
	update("of a field next to a violated rule", int64(3), "spec", "least")
	update("of the tags, following that rule", []any{"new"}, "spec", "tags")
	update("of a field", int64(3), "spec", "least")
	update("of another element", []any{map[string]any{"name": "a", "side": "right"}, map[string]any{"name": "c"}}, "spec", "ends")
	update("of another element, which is invalid", []any{
		map[string]any{"name": "a", "side": "right"}, map[string]any{"name": "c", "side": "right"},
	}, "spec", "ends")
	update("of an invalid field", "abcdefg", "spec", "label")
	update("of an invalid field to a valid value", "abc", "spec", "label")
	update("back to an invalid value", "abcdef", "spec", "label")
	w.shows(ctx, u, "spec")
	w.does(ctx, "delete", u, func() error { return w.Delete(ctx, u.DeepCopy()) })
	update("remove the finalizer", []any{}, "metadata", "finalizers")
}

// redefine changes the CRD of a kind, and waits until the cluster validates objects with it.
func (w *recorder) redefine(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, judged *unstructured.Unstructured, accepted bool) {
	w.t.Helper()
	if w.cluster.Fake != nil {
		blueprint, err := apiserver.NewBlueprint(w.cluster.Scheme, []*apiextensionsv1.CustomResourceDefinition{crd})
		if err != nil {
			w.t.Fatal(err)
		}
		w.cluster.Fake.Redefine(blueprint)
		return
	}
	define := func(ctx context.Context) error {
		current := &apiextensionsv1.CustomResourceDefinition{}
		if err := env.Client().Get(ctx, client.ObjectKeyFromObject(crd), current); err != nil {
			return err
		}
		current.Spec.Versions = crd.Spec.Versions
		return env.Client().Update(ctx, current)
	}
	if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error { return define(ctx) }); err != nil {
		w.t.Fatal(err)
	}
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := w.Create(ctx, judged.DeepCopy(), client.DryRunAll)
		if err != nil && !apierrors.IsInvalid(err) {
			return false, err
		}
		return accepted == (err == nil), nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}
