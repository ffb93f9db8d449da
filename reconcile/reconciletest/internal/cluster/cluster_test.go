package cluster_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
)

// object parses an object from YAML.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	all, err := description.ParseYAML(text)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d objects, %v in %s", len(all), err, text)
	}
	return all[0].(*unstructured.Unstructured)
}

// newCluster returns a fake API server with the given objects. The owners are ConfigMaps.
func newCluster(t *testing.T, given string, owners ...string) *cluster.Cluster {
	t.Helper()
	system := description.System{Setup: func(manager.Manager) error { return nil }, GivenYAML: given, Change: func(owner client.Object) {
		u := owner.(*unstructured.Unstructured)
		u.Object["data"] = map[string]any{"color": "blue"}
		delete(u.Object, "immutable")
		u.SetLabels(map[string]string{"spec": "b", "of-b": "true"})
	}}
	if len(owners) == 0 {
		owners = []string{`{apiVersion: v1, kind: ConfigMap, metadata: {name: shop, labels: {spec: a}}, data: {color: red}, immutable: false}`}
	}
	for _, owner := range owners {
		system.Owners = append(system.Owners, object(t, owner))
	}
	prepared, err := description.Prepare(system)
	if err != nil {
		t.Fatal(err)
	}
	w, err := cluster.New(t.Context(), prepared, "")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func perform(t *testing.T, w *cluster.Cluster, s description.Step, first bool) {
	t.Helper()
	if err := w.Perform(t.Context(), s, first); err != nil {
		t.Fatal(err)
	}
}

// stored returns an object of the cluster, or nil if it does not exist.
func stored(t *testing.T, w *cluster.Cluster, kind, name string) *unstructured.Unstructured {
	t.Helper()
	all, err := w.All()
	if err != nil {
		t.Fatal(err)
	}
	for gvk, items := range all {
		for key, u := range items {
			if gvk.Kind == kind && key.Name == name {
				return u
			}
		}
	}
	return nil
}

// TestPerform checks that a step replaces the user's fields, and keeps fields of other writers.
func TestPerform(t *testing.T) {
	t.Parallel()
	w := newCluster(t, "")
	perform(t, w, description.StepA, true)
	theirs := stored(t, w, "ConfigMap", "shop").DeepCopy()
	theirs.SetFinalizers([]string{"example.com/hold"})
	theirs.SetLabels(map[string]string{"spec": "a", "of-others": "true"})
	if err := w.Client.Update(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		step   description.Step
		color  string
		labels map[string]string
	}{
		{description.StepB, "blue", map[string]string{"spec": "b", "of-b": "true", "of-others": "true"}},
		{description.StepA, "red", map[string]string{"spec": "a", "of-others": "true"}},
		{description.StepOff, "red", map[string]string{"spec": "a", "of-others": "true"}},
	} {
		perform(t, w, step.step, false)
		got := stored(t, w, "ConfigMap", "shop")
		color, _, _ := unstructured.NestedString(got.Object, "data", "color")
		if _, declared := got.Object["immutable"]; declared == (step.step == description.StepB) {
			t.Errorf("%s: an object of only the other spec exists: %t", step.step, declared)
		}
		if diff := cmp.Diff(step.labels, got.GetLabels()); diff != "" || color != step.color || len(got.GetFinalizers()) != 1 {
			t.Errorf("%s: %s, %v (-want +got):\n%s", step.step, color, got.GetFinalizers(), diff)
		}
	}
	perform(t, w, description.StepDelete, false)
	if got := stored(t, w, "ConfigMap", "shop"); got == nil || got.GetDeletionTimestamp() == nil {
		t.Errorf("with a finalizer the object is %v after a delete", got)
	}
}

// TestPerformFirst checks that the first step creates all objects, and that a later step creates missing ones.
func TestPerformFirst(t *testing.T) {
	t.Parallel()
	owners := []string{
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: one}}`, `{apiVersion: v1, kind: ConfigMap, metadata: {name: two}}`,
	}
	for name, c := range map[string]struct {
		steps []description.Step
		want  string
	}{
		"created":                    {[]description.Step{description.StepA}, "one two"},
		"never created":              {[]description.Step{description.StepDelete}, ""},
		"one of two never created":   {[]description.Step{description.StepLess}, "two"},
		"one of two deleted":         {[]description.Step{description.StepA, description.StepLess}, "two"},
		"one of two created":         {[]description.Step{description.StepLess, description.StepA}, "one two"},
		"all deleted twice":          {[]description.Step{description.StepA, description.StepDelete, description.StepDelete}, ""},
		"all recreated after delete": {[]description.Step{description.StepA, description.StepDelete, description.StepB}, "one two"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCluster(t, "", owners...)
			for n, step := range c.steps {
				perform(t, w, step, n == 0)
			}
			var got []string
			for _, name := range []string{"one", "two"} {
				if stored(t, w, "ConfigMap", name) != nil {
					got = append(got, name)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestPerformErrors(t *testing.T) {
	t.Parallel()
	w := newCluster(t, "")
	perform(t, w, description.StepA, true)
	if err := w.Perform(t.Context(), description.StepA, true); !apierrors.IsAlreadyExists(err) || !strings.Contains(err.Error(), "step A: add ConfigMap default/shop: ") {
		t.Errorf("created twice: %v", err)
	}
}

// TestGiven checks that given objects are stored with their status.
func TestGiven(t *testing.T) {
	t.Parallel()
	w := newCluster(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 2, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}
status: {readyReplicas: 1, observedGeneration: 1}
`)
	got := stored(t, w, "Deployment", "web")
	if ready, _, _ := unstructured.NestedInt64(got.Object, "status", "readyReplicas"); ready != 1 || got.GetNamespace() != "default" {
		t.Errorf("%s: %d are ready", got.GetNamespace(), ready)
	}
	if !w.Waiting() {
		t.Error("a Deployment with one of two replicas counts as ready")
	}
}

// TestCollect checks that the garbage collector deletes objects whose owners are all deleted.
func TestCollect(t *testing.T) {
	t.Parallel()
	const owner, gone = "{apiVersion: v1, kind: ConfigMap, name: shop, uid: UID}", "{apiVersion: v1, kind: ConfigMap, name: gone, uid: gone}"
	for name, c := range map[string]struct {
		kind, namespace, references string
		stays                       bool
	}{
		"of an existing owner":                  {"Secret", "default", owner, true},
		"of a deleted owner":                    {"Secret", "default", gone, false},
		"of an owner in another namespace":      {"Secret", "other", owner, false},
		"without an owner":                      {"Secret", "default", "", true},
		"of a deleted and an existing owner":    {"Secret", "default", gone + ", " + owner, true},
		"cluster-scoped, of a namespaced owner": {"Namespace", `""`, owner, true},
		"cluster-scoped, of a deleted owner":    {"Namespace", `""`, "{apiVersion: v1, kind: Namespace, name: gone, uid: gone}", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCluster(t, "")
			perform(t, w, description.StepA, true)
			uid := stored(t, w, "ConfigMap", "shop").GetUID()
			child := object(t, fmt.Sprintf("{apiVersion: v1, kind: %s, metadata: {name: child, namespace: %s, ownerReferences: [%s]}}",
				c.kind, c.namespace, strings.ReplaceAll(c.references, "UID", string(uid))))
			if err := w.Client.Create(t.Context(), child); err != nil {
				t.Fatal(err)
			}
			if err := w.Turn(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := stored(t, w, child.GetKind(), "child"); (got != nil) != c.stays {
				t.Errorf("exists: %t, want %t", got != nil, c.stays)
			}
		})
	}
}

// TestCleanUp checks that a finished Job is deleted when its TTL expires, counted from its end.
func TestCleanUp(t *testing.T) {
	t.Parallel()
	const spec = `template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}`
	for name, c := range map[string]struct {
		job   string
		after time.Duration
		stays bool
	}{
		"TTL not expired": {`{ttlSecondsAfterFinished: 60}, {type: Complete, status: "True", lastTransitionTime: "2026-01-01T01:00:00Z"}`, time.Hour + 59*time.Second, true},
		"expired":         {`{ttlSecondsAfterFinished: 60}, {type: Complete, status: "True", lastTransitionTime: "2026-01-01T01:00:00Z"}`, time.Hour + time.Minute, false},
		"failed":          {`{ttlSecondsAfterFinished: 60}, {type: Failed, status: "True", lastTransitionTime: "2026-01-01T01:00:00Z"}`, 2 * time.Hour, false},
		"no end":          {`{ttlSecondsAfterFinished: 60}, {type: Suspended, status: "True"}`, 2 * time.Hour, true},
		"not done":        {`{ttlSecondsAfterFinished: 60}, {type: Complete, status: "False"}`, 2 * time.Hour, true},
		"no time":         {`{ttlSecondsAfterFinished: 60}, {type: Complete, status: "True"}`, time.Minute, false},
		"no limit":        {`{}, {type: Complete, status: "True"}`, 1000 * time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit, condition, _ := strings.Cut(c.job, "}, ")
			w := newCluster(t, "apiVersion: batch/v1\nkind: Job\nmetadata: {name: once}\nspec: "+limit+
				map[bool]string{true: ", "}[limit != "{"]+spec+"}\nstatus: {conditions: ["+condition+"]}")
			w.Clock.Set(w.Clock.Now().Add(c.after))
			if err := w.Turn(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := stored(t, w, "Job", "once"); (got != nil) != c.stays {
				t.Errorf("exists: %t, want %t", got != nil, c.stays)
			}
		})
	}
}

// TestStandIns checks that stand-ins run until they change nothing. One that never stops is an error, and one that fails stops the run.
func TestStandIns(t *testing.T) {
	t.Parallel()
	label := func(limit int) description.StandIn {
		n := 0
		return func(ctx context.Context, c client.Client) error {
			if n == limit {
				return nil
			}
			n++
			u := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: shop, namespace: default}}`)
			if err := c.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
				return err
			}
			u.SetLabels(map[string]string{"n": strings.Repeat("x", n%60+1)})
			return c.Update(ctx, u)
		}
	}
	for name, c := range map[string]struct {
		limit        int
		slow, frozen bool
		want, err    string
	}{
		"until they are done":          {limit: 3, want: "xxxx"},
		"one round when they are slow": {limit: 3, slow: true, want: "xx"},
		"none in a frozen cluster":     {limit: 3, frozen: true},
		"without end":                  {limit: -1, err: "never stop writing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCluster(t, "")
			w.System.StandIns = []description.StandIn{label(c.limit)}
			w.Slow, w.Frozen = c.slow, c.frozen
			perform(t, w, description.StepA, true)
			err := w.Turn(t.Context())
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %v, want %q", err, c.err)
			}
			if got := stored(t, w, "ConfigMap", "shop").GetLabels()["n"]; c.err == "" && got != c.want {
				t.Errorf("%q is stored, want %q", got, c.want)
			}
		})
	}
	w := newCluster(t, "")
	w.System.StandIns = []description.StandIn{label(1)}
	if err := w.Turn(t.Context()); !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), "stand-in: ") {
		t.Errorf("one that fails: %v", err)
	}
}
