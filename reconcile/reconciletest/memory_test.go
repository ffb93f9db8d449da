package reconciletest_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

// leftOut records that the API server returned an error for a child, and reports whether this is the second such child. The
// process then ignores that child.
func (a *app) leftOut(child string, err error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if apierrors.IsInternalError(err) || apierrors.IsTimeout(err) {
		a.known[child] = a.known["failed"] && !a.known["failed "+child]
		a.known["failed"], a.known["failed "+child] = true, true
	}
	return a.known[child]
}

// record creates one object with a random name. Only the process that created it knows that the cache does not contain it yet.
func (a *app) record(ctx context.Context, w *widget.Widget) error {
	var made corev1.ConfigMapList
	if err := a.List(ctx, &made, client.InNamespace(w.Namespace), client.MatchingLabels{"record": w.Name}); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(made.Items) > 0 || a.known[string(w.UID)] || !w.DeletionTimestamp.IsZero() {
		return nil
	}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.Namespace, GenerateName: w.Name + "-record-", Labels: map[string]string{"record": w.Name},
	}}
	if err := controllerutil.SetControllerReference(w, config, a.Scheme()); err != nil {
		return err
	}
	err := a.Create(ctx, config)
	a.known[string(w.UID)] = err == nil
	return err
}

// TestCatchesByOneCase checks faults that only one kind of case finds, and that the case can be repeated by its name.
func TestCatchesByOneCase(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	t.Setenv(reconciletest.EnvSeed, "1") // the seed selects which two requests fail in one run
	for fault, only := range map[trait]string{
		"stops after three failures":             " several times of ",
		"leaves out the second child that fails": ", and ",
		"record kept in memory only":             "two instances overlap",
		"annotation without an owner reference":  "restart with the previous cache, of Widget alone",
		"optional child tried only once":         "steady state: not served: ",
		"optional child blocks other children":   "steady state: not served: ",
	} {
		t.Run(string(fault), func(t *testing.T) {
			out, err := reconciletest.Explore(t.Context(), appSystem(fault))
			if err != nil {
				t.Fatal(err)
			}
			if len(out.Findings) == 0 {
				t.Fatalf("%d cases, none finds it", out.Cases)
			}
			t.Logf("%d findings, the first: %s", len(out.Findings), out.Findings[0])
			other := slices.DeleteFunc(slices.Clone(out.Findings), func(f reconciletest.Finding) bool { return strings.Contains(f.Case, only) })
			for _, f := range other {
				t.Errorf("found by another case: %s", f)
			}
			first := out.Findings[0]
			t.Setenv(reconciletest.EnvCase, first.Case)
			t.Setenv(reconciletest.EnvSeed, "2")
			again, err := reconciletest.Explore(t.Context(), appSystem(fault))
			if err != nil || again.Cases != 1 || !slices.Contains(again.Findings, first) {
				t.Errorf("want the same finding from the single case for each seed, got %v and %v", again, err)
			}
		})
	}
}
