package apiserver_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// write is one request for a widget.
type write func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error

func set(change func(u *unstructured.Unstructured)) write {
	return func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
		change(u)
		return c.Update(ctx, u)
	}
}

func count(n int64) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) { _ = unstructured.SetNestedField(u.Object, n, "spec", "count") }
}

func state(text string) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) { u.Object["status"] = map[string]any{"state": text} }
}

// TestVersions checks that the generation changes with the spec and the deletion, the resourceVersion with each change, and neither without a change.
func TestVersions(t *testing.T) {
	t.Parallel()
	apply := func(text string) write {
		return func(ctx context.Context, c client.Client, _ *unstructured.Unstructured) error {
			return c.Apply(ctx, applied(parse(t, text)), client.FieldOwner("test"), client.ForceOwnership)
		}
	}
	for name, c := range map[string]struct {
		do         write
		generation int64
		changed    bool
	}{
		"nothing":                           {set(func(*unstructured.Unstructured) {}), 1, false},
		"the spec":                          {set(count(2)), 2, true},
		"the same spec":                     {set(count(1)), 1, false},
		"a label":                           {set(func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"a": "b"}) }), 1, true},
		"a status in an update of the spec": {set(state("Ready")), 1, false},
		"another generation":                {set(func(u *unstructured.Unstructured) { u.SetGeneration(7) }), 1, false},
		"another creation timestamp":        {set(func(u *unstructured.Unstructured) { u.SetCreationTimestamp(metav1.Time{}) }), 1, false},
		"a deletion timestamp":              {set(func(u *unstructured.Unstructured) { u.SetDeletionTimestamp(&metav1.Time{}) }), 1, false},
		"the status": {func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			state("Ready")(u)
			count(5)(u) // an update of the status ignores the spec
			return c.Status().Update(ctx, u)
		}, 1, true},
		"the status by a patch": {func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Status().Patch(ctx, u, merge(`{"spec":{"count":5},"status":{"state":"Ready"}}`))
		}, 1, true},
		"an empty patch": {func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Patch(ctx, u, merge(`{}`))
		}, 1, false},
		"a patch": {func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Patch(ctx, u, client.RawPatch(types.JSONPatchType, []byte(`[{"op":"replace","path":"/spec/count","value":3}]`)))
		}, 2, true},
		"an apply of the same spec": {apply(gadget), 1, true}, // adds a managedFields entry
		"an apply":                  {apply(strings.Replace(gadget, "count: 1", "count: 4", 1)), 2, true},
		"the same apply twice": {func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			if err := apply(gadget)(ctx, c, u); err != nil {
				return err
			}
			stored := read(t, c, u)
			if err := apply(gadget)(ctx, c, u); err != nil {
				return err
			}
			if diff := cmp.Diff(stored, read(t, c, u)); diff != "" {
				t.Errorf("the second apply changed (-before +after):\n%s", diff)
			}
			return nil
		}, 1, true},
		"a deletion with a finalizer": {func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			u.SetFinalizers([]string{"test/hold"})
			if err := c.Update(ctx, u); err != nil {
				return err
			}
			return c.Delete(ctx, u)
		}, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serverWith(t, gadget)
			before, revision := read(t, server.Client, parse(t, gadget)), server.Revision()
			if err := c.do(t.Context(), server.Client, before.DeepCopy()); err != nil {
				t.Fatal(err)
			}
			after := read(t, server.Client, before)
			changed := after.GetResourceVersion() != before.GetResourceVersion()
			if after.GetGeneration() != c.generation || changed != c.changed || (server.Revision() != revision) != c.changed {
				t.Errorf("generation %d, version %s after %s, revision %d after %d; want generation %d, a change: %t",
					after.GetGeneration(), after.GetResourceVersion(), before.GetResourceVersion(), server.Revision(), revision, c.generation, c.changed)
			}
			if after.GetUID() != before.GetUID() || after.GetCreationTimestamp() != before.GetCreationTimestamp() {
				t.Errorf("another object: %v, want %v", after, before)
			}
			if held := len(after.GetFinalizers()) > 0; held != (after.GetDeletionTimestamp() != nil) {
				t.Errorf("it is being deleted: %t, and held: %t", after.GetDeletionTimestamp() != nil, held)
			}
		})
	}
}

// TestDryRun checks that a dry run returns the result of the write and stores nothing.
func TestDryRun(t *testing.T) {
	t.Parallel()
	dry, by := client.DryRunAll, client.FieldOwner("test")
	for name, c := range map[string]struct {
		do   write
		want int64 // the count in the response
	}{
		"create": {func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			u.SetName("other")
			u.SetResourceVersion("")
			return c.Create(ctx, u, dry)
		}, 1},
		"update": {func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			count(2)(u)
			return c.Update(ctx, u, dry)
		}, 2},
		"status": {func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			state("Ready")(u)
			return c.Status().Update(ctx, u, dry)
		}, 1},
		"patch": {func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Patch(ctx, u, merge(`{"spec":{"count":3}}`), dry)
		}, 3},
		"apply": {func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			want := parse(t, strings.Replace(gadget, "count: 1", "count: 4", 1))
			err := c.Apply(ctx, applied(want), by, client.ForceOwnership, dry)
			u.Object = want.Object
			return err
		}, 4},
		"apply of another object": {func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			want := parse(t, strings.Replace(gadget, "name: w,", "name: other,", 1))
			err := c.Apply(ctx, applied(want), by, dry)
			u.Object = want.Object
			return err
		}, 1},
		"delete": {func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Delete(ctx, u, dry)
		}, 1},
		"delete of all": {func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.DeleteAllOf(ctx, u, client.InNamespace("default"), dry)
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serverWith(t, gadget)
			before, revision := read(t, server.Client, parse(t, gadget)), server.Revision()
			answer := before.DeepCopy()
			if err := c.do(t.Context(), server.Client, answer); err != nil {
				t.Fatal(err)
			}
			if got, _, _ := unstructured.NestedInt64(answer.Object, "spec", "count"); got != c.want || answer.GetUID() == "" {
				t.Errorf("the answer is %v, want a UID, and the count %d", answer.Object, c.want)
			}
			if diff := cmp.Diff(before, read(t, server.Client, before)); diff != "" || server.Revision() != revision {
				t.Errorf("revision %d, was %d (-before +after):\n%s", server.Revision(), revision, diff)
			}
			if all, err := server.List(before.GroupVersionKind()); err != nil || len(all) != 1 {
				t.Errorf("there are %d objects, %v", len(all), err)
			}
		})
	}
}

// owners returns the owned top-level fields of data, as "manager operation subresource: fields".
func owners(u *unstructured.Unstructured) (out []string) {
	for _, entry := range u.GetManagedFields() {
		fields := entry.FieldsV1.GetRawString()
		for _, mark := range []string{`"`, "f:", "{", "}"} {
			fields = strings.ReplaceAll(fields, mark, "")
		}
		who := strings.TrimSpace(entry.Manager + " " + string(entry.Operation) + " " + entry.Subresource)
		out = append(out, who+" = "+strings.ReplaceAll(strings.ReplaceAll(fields, ".:,", ""), ":", " "))
	}
	return out
}

// TestOwnership checks that writers own their fields, and that an apply removes fields that it no longer contains, unless another manager owns them.
func TestOwnership(t *testing.T) {
	t.Parallel()
	server := serverWith(t)
	ctx, c := t.Context(), server.Client
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	expect := func(data map[string]any, want ...string) {
		t.Helper()
		u := read(t, server.Client, parse(t, settings))
		if diff := cmp.Diff(data, u.Object["data"]); diff != "" {
			t.Errorf("data (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want, owners(u)); diff != "" {
			t.Errorf("owners (-want +got):\n%s", diff)
		}
	}
	apply := func(by, data string, opts ...client.ApplyOption) error {
		u := parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}, data: `+data+`}`)
		return c.Apply(ctx, applied(u), append(opts, client.FieldOwner(by))...)
	}
	must(apply("one", `{x: "1", v: "1"}`))
	expect(map[string]any{"v": "1", "x": "1"}, "one Apply = data v ,x ")

	must(apply("two", `{x: "1", z: "1"}`))
	expect(map[string]any{"v": "1", "x": "1", "z": "1"}, "one Apply = data v ,x ", "two Apply = data x ,z ")

	if err := apply("two", `{x: "2"}`); !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `conflict with "one": .data.x`) {
		t.Errorf("manager two changes a field of manager one: %v", err)
	}
	must(apply("two", `{x: "2"}`, client.ForceOwnership))
	expect(map[string]any{"x": "2", "v": "1"}, "one Apply = data v ", "two Apply = data x ")

	u := read(t, server.Client, parse(t, settings))
	must(unstructured.SetNestedField(u.Object, "3", "data", "v"))
	must(c.Update(ctx, u, client.FieldOwner("three")))
	expect(map[string]any{"x": "2", "v": "3"}, "two Apply = data x ", "three Update = data v ")

	must(apply("two", `{}`))
	expect(map[string]any{"v": "3"}, "two Apply = data ", "three Update = data v ")
	must(c.Patch(ctx, u, merge(`{"data":{"w":"1"}}`)))
	expect(map[string]any{"v": "3", "w": "1"}, "two Apply = data ", "reconciletest Update = data w ", "three Update = data v ")
}

// TestOwnershipBySchema checks that the status has its own managedFields entries, and that elements of map lists are owned separately.
func TestOwnershipBySchema(t *testing.T) {
	t.Parallel()
	server := serverWith(t, gadget)
	condition := func(by, kind string) {
		t.Helper()
		u := parse(t, `{apiVersion: test.reconcilekit.dev/v1, kind: Widget, metadata: {name: w, namespace: default}, status: {conditions: [
		  {type: `+kind+`, status: "True", reason: Fine, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]}}`)
		if err := server.Client.Status().Apply(t.Context(), applied(u), client.FieldOwner(by)); err != nil {
			t.Fatal(err)
		}
	}
	condition("one", "Ready")
	condition("two", "Synced")
	condition("one", "Ready")
	u := read(t, server.Client, parse(t, gadget))
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	var managers []string
	for _, entry := range u.GetManagedFields() {
		managers = append(managers, strings.TrimSpace(entry.Manager+" "+entry.Subresource))
	}
	if diff := cmp.Diff([]string{"one status", "two status", "reconciletest"}, managers); diff != "" || len(conditions) != 2 {
		t.Errorf("%d conditions; managers (-want +got):\n%s", len(conditions), diff)
	}
}

// TestDeletion checks that an object that is being deleted stays while it has finalizers, accepts no new ones, and is deleted with the last one.
func TestDeletion(t *testing.T) {
	t.Parallel()
	apply := func(text string) write {
		return func(ctx context.Context, c client.Client, _ *unstructured.Unstructured) error {
			return c.Apply(ctx, applied(parse(t, text)), client.FieldOwner("installer"), client.ForceOwnership)
		}
	}
	for name, c := range map[string]struct {
		do      write
		stays   bool
		refused bool
	}{
		"another delete": {func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Delete(ctx, u)
		}, true, false},
		"a label":                    {set(func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"a": "b"}) }), true, false},
		"removed deletion timestamp": {set(func(u *unstructured.Unstructured) { u.SetDeletionTimestamp(nil) }), true, false},
		"additional finalizer": {set(func(u *unstructured.Unstructured) {
			u.SetFinalizers(append(u.GetFinalizers(), "test/more"))
		}), true, true},
		"finalizers removed": {set(func(u *unstructured.Unstructured) { u.SetFinalizers(nil) }), false, false},
		"finalizers removed by a patch": {func(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
			return c.Patch(ctx, u, merge(`{"metadata":{"finalizers":null}}`))
		}, false, false},
		"an apply by another manager":    {apply(strings.Replace(leaving, ", finalizers: [test/hold]", ", labels: {a: b}", 1)), true, false},
		"an apply of the finalizer":      {apply(leaving), true, false},
		"an apply that adds a finalizer": {apply(strings.Replace(leaving, "test/hold", "test/other", 1)), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serverWith(t, leaving)
			u := parse(t, leaving)
			if err := server.Client.Delete(t.Context(), u); err != nil {
				t.Fatal(err)
			}
			u = read(t, server.Client, u)
			err := c.do(t.Context(), server.Client, u.DeepCopy())
			if apierrors.IsInvalid(err) != c.refused || err != nil && !c.refused {
				t.Errorf("refused: %v, want %t", err, c.refused)
			}
			after := read(t, server.Client, u)
			if (after != nil) != c.stays || after != nil && (after.GetDeletionTimestamp() == nil || !cmp.Equal(after.GetFinalizers(), u.GetFinalizers())) {
				t.Errorf("exists: %v, want %t", after, c.stays)
			}
		})
	}
}

// TestApplyRemovesAFinalizer checks that an apply without the last finalizer that it owns removes it, which deletes the object.
func TestApplyRemovesAFinalizer(t *testing.T) {
	t.Parallel()
	server := serverWith(t)
	ctx, c, by := t.Context(), server.Client, client.FieldOwner("test")
	if err := c.Apply(ctx, applied(parse(t, leaving)), by); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(ctx, parse(t, leaving)); err != nil || read(t, server.Client, parse(t, leaving)) == nil {
		t.Fatalf("the finalizer does not keep the object: %v", err)
	}
	if err := c.Apply(ctx, applied(parse(t, strings.Replace(leaving, ", finalizers: [test/hold]", "", 1))), by); err != nil {
		t.Error(err)
	}
	if u := read(t, server.Client, parse(t, leaving)); u != nil {
		t.Errorf("the object still exists: %v", u)
	}
}

// TestUIDs checks that UIDs are numbered, that a reserved UID is used for the first object of its name, and that a recreated object has a new one.
func TestUIDs(t *testing.T) {
	t.Parallel()
	server := serverWith(t, settings, `{apiVersion: v1, kind: ConfigMap, metadata: {name: known, namespace: default, uid: own, generation: 9}}`)
	known := read(t, server.Client, parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: known, namespace: default}}`))
	one := read(t, server.Client, parse(t, settings))
	if known.GetUID() != "reserved" || one.GetUID() == "" || known.GetGeneration() != 0 {
		t.Errorf("UIDs %q and %q, want the reserved one; generation %d", known.GetUID(), one.GetUID(), known.GetGeneration())
	}
	if err := server.Client.Delete(t.Context(), one, client.Preconditions{UID: new(one.GetUID()), ResourceVersion: new(one.GetResourceVersion())}); err != nil {
		t.Fatal(err)
	}
	if err := server.Client.Create(t.Context(), parse(t, settings)); err != nil {
		t.Fatal(err)
	}
	if again := read(t, server.Client, one); again.GetUID() == one.GetUID() || again.GetCreationTimestamp().Year() != 2026 {
		t.Errorf("the new object is %v", again)
	}
}
