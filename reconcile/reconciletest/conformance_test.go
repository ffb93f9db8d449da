package reconciletest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
)

// conformance is a sequence of requests that runs on both API servers. The recorded lines must
// be equal, except for known differences.
//
// Garbage collection is not covered: an API server has none, and the kit simulates it on both.
type conformance struct {
	name     string
	sequence func(ctx context.Context, w *recorder)
	known    []difference
}

// difference is a line of the fake API server that replaces one of a real server; "" is no line. If it no longer occurs, the test fails.
type difference struct{ fake, real string }

// TestConformance runs the same sequences on the fake and on a real API server.
func TestConformance(t *testing.T) {
	t.Parallel()
	env.Require(t)
	for _, c := range slices.Concat(writeSequences(), applySequences(), deleteSequences(), schemaSequences(), kindSequences()) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fake, server := recordAnswers(t, c, nil), recordAnswers(t, c, env)
			for _, problem := range conforms(c.known, fake, server) {
				t.Error(problem)
			}
		})
	}
}

// conforms returns an error for unknown differences and for known ones that do not occur.
func conforms(known []difference, fake, server []string) (problems []string) {
	fake = slices.Clone(fake)
	for _, d := range known {
		at := slices.Index(fake, d.fake)
		switch {
		case d.fake == "":
			if to := slices.Index(server, d.real); to >= 0 && to <= len(fake) {
				fake = slices.Insert(fake, to, d.real)
			}
		case at < 0:
			problems = append(problems, fmt.Sprintf("a known difference no longer occurs, remove it from the list: the fake API server does not print %q", d.fake))
		case d.real == "":
			fake = slices.Delete(fake, at, at+1)
		default:
			fake[at] = d.real
		}
	}
	if diff := cmp.Diff(server, fake); diff != "" {
		problems = append(problems, "the fake API server differs (-server +fake):\n"+diff)
	}
	return problems
}

// TestConformanceReportsDifferences checks that unknown differences and obsolete known differences are reported.
func TestConformanceReportsDifferences(t *testing.T) {
	t.Parallel()
	other := []difference{{fake: "b", real: "x"}}
	for name, c := range map[string]struct {
		known      []difference
		fake, real []string
		want       string // "" means no error
	}{
		"the same":                                 {nil, []string{"a", "b"}, []string{"a", "b"}, ""},
		"a new difference":                         {nil, []string{"a", "b"}, []string{"a", "x"}, "differs"},
		"a known difference":                       {other, []string{"a", "b"}, []string{"a", "x"}, ""},
		"a known difference without its line":      {other, []string{"a", "x"}, []string{"a", "x"}, "no longer occurs"},
		"a known difference that no longer exists": {other, []string{"a", "b"}, []string{"a", "b"}, "differs"},
		"a known missing line":                     {[]difference{{real: "b"}}, []string{"a", "c"}, []string{"a", "b", "c"}, ""},
		"a known missing line that now exists":     {[]difference{{real: "b"}}, []string{"a", "b"}, []string{"a", "b"}, "differs"},
		"a known extra line":                       {[]difference{{fake: "b"}}, []string{"a", "b", "c"}, []string{"a", "c"}, ""},
	} {
		problems := strings.Join(conforms(c.known, c.fake, c.real), "\n")
		if (problems == "") != (c.want == "") || !strings.Contains(problems, c.want) {
			t.Errorf("%s: want a problem with %q, got %q", name, c.want, problems)
		}
	}
}

// recorder runs a sequence on one API server and records the results.
type recorder struct {
	client.WithWatch
	cluster   *cluster.Cluster
	t         *testing.T
	namespace string
	lines     []string
	uids      []string
}

func recordAnswers(t *testing.T, c conformance, environment *environment.Environment) []string {
	t.Helper()
	system := reconciletest.System{
		Scheme: widgetScheme(), CRDs: []*apiextensionsv1.CustomResourceDefinition{widget.CRD(), strictCRD(), gateCRD()}, Environment: environment,
	}
	namespace := "conformance"
	if environment != nil {
		namespace = environment.Namespace(t)
	}
	recorded, err := reconciletest.NewCluster(t.Context(), system, namespace)
	if err != nil {
		t.Fatal(err)
	}
	w := &recorder{WithWatch: recorded.Client, cluster: recorded, t: t, namespace: namespace}
	c.sequence(t.Context(), w)
	return w.lines
}

func (w *recorder) log(format string, args ...any) {
	line := strings.ReplaceAll(fmt.Sprintf(format, args...), w.namespace, "NS")
	for n, uid := range w.uids {
		line = strings.ReplaceAll(line, uid, fmt.Sprintf("UID%d", n))
	}
	w.lines = append(w.lines, line)
}

// object returns an object in the namespace of the cluster.
func (w *recorder) object(text string) *unstructured.Unstructured {
	w.t.Helper()
	u := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = u.UnmarshalJSON(data)
	}
	if err != nil {
		w.t.Fatalf("%v in\n%s", err, text)
	}
	u.SetNamespace(w.namespace)
	return u
}

// live returns the stored object, or nil if it does not exist.
func (w *recorder) live(ctx context.Context, u *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(u.GroupVersionKind())
	if err := w.Get(ctx, client.ObjectKeyFromObject(u), out); err != nil {
		if !apierrors.IsNotFound(err) {
			w.t.Errorf("get: %v", err)
		}
		return nil
	}
	return out
}

// does performs a write and records the response and the object.
func (w *recorder) does(ctx context.Context, what string, u *unstructured.Unstructured, write func() error) *unstructured.Unstructured {
	before := w.live(ctx, u)
	err := write()
	after := w.live(ctx, u)
	if after != nil && !slices.Contains(w.uids, string(after.GetUID())) {
		w.uids = append(w.uids, string(after.GetUID()))
	}
	w.log("%s: %s; %s", what, answer(err), became(before, after))
	return after
}

// answer returns reason and code of an error. Messages are not compared, because they differ between versions.
func answer(err error) string {
	if err == nil {
		return "ok"
	}
	if status, ok := err.(apierrors.APIStatus); ok {
		return fmt.Sprintf("%s %d", status.Status().Reason, status.Status().Code)
	}
	return "error"
}

func became(before, after *unstructured.Unstructured) string {
	switch {
	case before == nil && after == nil:
		return "not found"
	case after == nil:
		return "deleted"
	case before == nil:
		return fmt.Sprintf("exists: uid %t, version %t, created %t, generation %d%s", after.GetUID() != "",
			after.GetResourceVersion() != "", !after.GetCreationTimestamp().Time.IsZero(), after.GetGeneration(), deleting(after))
	}
	parts := []string{"same version"}
	if before.GetResourceVersion() != after.GetResourceVersion() {
		parts[0] = "new version"
	}
	if before.GetUID() != after.GetUID() {
		parts = append(parts, "another object")
	}
	if more := after.GetGeneration() - before.GetGeneration(); more != 0 {
		parts = append(parts, fmt.Sprintf("generation +%d", more))
	}
	if before.GetCreationTimestamp() != after.GetCreationTimestamp() {
		parts = append(parts, "created at another time")
	}
	return strings.Join(parts, ", ") + deleting(after)
}

func deleting(u *unstructured.Unstructured) string {
	if u.GetDeletionTimestamp() == nil {
		return ""
	}
	grace := "none"
	if g := u.GetDeletionGracePeriodSeconds(); g != nil {
		grace = fmt.Sprint(*g)
	}
	return ", being deleted with grace " + grace
}

// shows records fields of the object as JSON.
func (w *recorder) shows(ctx context.Context, u *unstructured.Unstructured, fields ...string) {
	live := w.live(ctx, u)
	if live == nil {
		w.log("no value")
		return
	}
	value, _, err := unstructured.NestedFieldNoCopy(live.Object, fields...)
	if err != nil {
		w.t.Error(err)
	}
	data, err := json.Marshal(value)
	if err != nil {
		w.t.Error(err)
	}
	w.log("%s is %s", strings.Join(fields, "."), data)
}

// ownership records the owned fields of each manager.
func (w *recorder) ownership(ctx context.Context, u *unstructured.Unstructured) {
	live := w.live(ctx, u)
	var lines []string
	for _, entry := range live.GetManagedFields() {
		var fields any
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			w.t.Error(err)
		}
		sorted, _ := json.Marshal(fields) //nolint:errchkjson // it was JSON
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s by %s %s at %s owns %s", entry.Operation, entry.Manager, entry.Subresource,
			entry.APIVersion, sorted)))
	}
	slices.Sort(lines)
	for _, line := range lines {
		w.log("%s", line)
	}
}
