package lint_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/lint"
)

func TestOffenders(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ in, want string }{
		"Builder":              {`import "sigs.k8s.io/controller-runtime/pkg/builder"`, "imports sigs.k8s.io/controller-runtime/pkg/builder"},
		"Handler under a name": {`import h "sigs.k8s.io/controller-runtime/pkg/handler"`, "imports sigs.k8s.io/controller-runtime/pkg/handler"},
		"Controllerutil": {
			`import "sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"`,
			"imports sigs.k8s.io/controller-runtime/pkg/controller/controllerutil",
		},
		"Create":           {`func f() { r.client.Create(ctx, o) }`, "uses Create"},
		"Update of status": {`func f() { c.Status().Update(ctx, o) }`, "uses Update uses Status"},
		"Patch as a value": {`var patch = c.Patch`, "uses Patch"},
		"Subresource":      {`func f() { c.SubResource("scale") }`, "uses SubResource"},
		"Delete":           {`func f() { c.Delete(ctx, o) }`, "uses Delete"},
		"Delete of a test": {`func f() { c.Delete(t.Context(), o) }`, "uses Delete"},
		"Delete elsewhere": {`func f() { c.Delete(t.Context(), o); c.Delete(r.ctx, o) }`, "uses Delete uses Delete"},
		"DeleteAllOf":      {`func f() { c.DeleteAllOf(ctx, o) }`, "uses DeleteAllOf"},
		"Apply":            {`func f() { c.Apply(ctx, o) }`, "uses Apply"},
		"The engine":       {in: `func f() { h.engine.Apply(ctx, owner, set) }`},
		"A plan":           {in: `func f() { plan.Apply(o); plan.Delete(o, options...); plan.Contribute(o) }`},
		"A declaration":    {in: `func f() { controller.New(n, r).Owns(o).Reads(p) }`},
		"A function":       {in: "import \"example.com/os\"\nfunc f() { os.Create(n) }"},
		"Reads":            {in: `func f() { c.Get(ctx, k, o); c.List(ctx, l); _ = o.Status.Phase }`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := lint.Offenders(fstest.MapFS{"p/a.go": {Data: []byte("package p\n" + test.in)}})
			if err != nil {
				t.Fatal(err)
			}
			for i := range found {
				found[i] = found[i][strings.LastIndex(found[i], ": ")+2:]
			}
			if diff := cmp.Diff(test.want, strings.Join(found, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOffendersErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		in   fstest.MapFS
		want string
	}{
		"No file":    {fstest.MapFS{"a_test.go": {Data: []byte("package a")}}, "no Go file to check"},
		"No package": {fstest.MapFS{"a.go": {Data: []byte("func f()")}}, "parse: a.go:1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := lint.Offenders(test.in); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// witness records failures.
type witness struct {
	testing.TB

	failures []string
}

func (w *witness) Error(args ...any) { w.failures = append(w.failures, fmt.Sprint(args...)) }

// ExampleOffenders lists the writes in the packages of an operator.
func TestBoundary(t *testing.T) {
	t.Parallel()
	w := &witness{TB: t}
	lint.Boundary(w, "..")
	if got := strings.Join(w.failures, "\n"); !strings.Contains(got, "uses Create") {
		t.Errorf("want a failure about Create, got %q", got)
	}
}

func ExampleOffenders() {
	offenders, err := lint.Offenders(fstest.MapFS{
		"web/reconciler.go": {Data: []byte("package web\n\nfunc f() {\n\tplan.Delete(old)\n\tc.Delete(ctx, old)\n}\n")},
		"standin/main.go":   {Data: []byte("package main\n\nfunc main() { c.Create(ctx, pod) }\n")},
	}, "standin")
	fmt.Println(strings.Join(offenders, "\n"), err)
	// Output: web/reconciler.go:5: uses Delete <nil>
}
