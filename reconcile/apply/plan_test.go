package apply_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

func TestModeIsAnOptionOfApply(t *testing.T) {
	t.Parallel()
	for _, mode := range []apply.Mode{apply.Own, apply.Shared, apply.Once, apply.Contribute, apply.Retained} {
		var plan apply.Plan
		plan.Apply(&corev1.ConfigMap{}, mode, apply.Recreate())
		if got := plan.Children[0]; got.Mode != mode || !got.Recreate {
			t.Errorf("mode %d: got mode %d, recreate %t", mode, got.Mode, got.Recreate)
		}
	}
}

func TestIncomplete(t *testing.T) {
	t.Parallel()
	first, second := errors.New("the first read failed"), errors.New("the second read failed")
	for name, test := range map[string]struct {
		errs []error
		want string
	}{
		"no call":   {},
		"nil":       {errs: []error{nil}},
		"one error": {errs: []error{first, nil}, want: "the first read failed"},
		"two":       {errs: []error{first, second}, want: "the first read failed\nthe second read failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var plan apply.Plan
			for _, err := range test.errs {
				plan.Incomplete(err)
			}
			got := ""
			if plan.PruneBlocked != nil {
				got = plan.PruneBlocked.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("reason (-want +got):\n%s", diff)
			}
			if (plan.PruneBlocked == nil) != (test.want == "") {
				t.Errorf("incomplete is %t", plan.PruneBlocked != nil)
			}
		})
	}
}
