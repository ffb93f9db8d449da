package controller_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// TestBuild checks that declarations after Build do not change the controller.
func TestBuild(t *testing.T) {
	t.Parallel()
	b := controller.New("w", idle{}).Reads(&corev1.Secret{})
	first := b.Build()
	second := b.Reads(&corev1.ConfigMap{}).Build()
	got := map[string]int{}
	for name, c := range map[string]*controller.Controller{"first": first, "second": second} {
		d, err := c.Describe(testScheme(t))
		if err != nil {
			t.Fatal(err)
		}
		got[name] = len(d.Watches)
	}
	if diff := cmp.Diff(map[string]int{"first": 2, "second": 3}, got); diff != "" {
		t.Errorf("watches (-want +got):\n%s", diff)
	}
}

// TestPrepare checks that the functions run in order before the setup, until one returns an error.
func TestPrepare(t *testing.T) {
	t.Parallel()
	broken := errors.New("no settings")
	for name, tc := range map[string]struct {
		results []error
		want    error
		calls   []int
	}{
		"Error":       {results: []error{nil, broken, nil}, want: broken, calls: []int{0, 1}},
		"Skip":        {results: []error{nil, controller.ErrSkip, broken}, calls: []int{0, 1}},
		"WrappedSkip": {results: []error{fmt.Errorf("not installed: %w", controller.ErrSkip)}, calls: []int{0}},
	} {
		var calls []int
		b := controller.New("w", idle{})
		for i, result := range tc.results {
			b.Prepare(func(manager.Manager) error {
				calls = append(calls, i)
				return result
			})
		}
		if err := b.Build().SetupWithManager(nil); !errors.Is(err, tc.want) {
			t.Errorf("%s: got error %v, want %v", name, err, tc.want)
		}
		if diff := cmp.Diff(tc.calls, calls); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", name, diff)
		}
	}
}
