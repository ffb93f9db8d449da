package rights_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/rights"
)

// TestRefusedOnce checks that the first apply and the first other write of each kind are rejected, and that other requests are not.
func TestRefusedOnce(t *testing.T) {
	t.Parallel()

	hook := rights.RefusedOnce()
	deployment := requests.Request{Group: "apps", Resource: "deployments", Name: "x"}

	for _, step := range []struct {
		what   string
		verb   string
		change func(r *requests.Request)
		want   string
	}{
		{"a create", "create", nil, ""},
		{"the first apply", "apply", nil, "Invalid"},
		{"the second apply", "apply", func(r *requests.Request) { r.Name = "y" }, ""},
		{"the first patch", "patch", nil, "Conflict"},
		{"the second patch", "patch", nil, ""},
		{"an apply of another kind", "apply", func(r *requests.Request) { r.Resource = "daemonsets" }, "Invalid"},
		{"a status", "patch", func(r *requests.Request) { r.Group, r.Subresource = "batch", "status" }, ""},
		{"a dry-run", "apply", func(r *requests.Request) { r.Group, r.DryRun = "batch", true }, ""},
		{"a repeated event", "patch", func(r *requests.Request) { r.Group, r.Resource = "events.k8s.io", "events" }, ""},
	} {
		request := deployment
		request.Verb = step.verb

		if step.change != nil {
			step.change(&request)
		}

		got := ""
		if fault := hook(request); fault != nil {
			got = string(apierrors.ReasonForError(fault.Err))
		}

		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.what, diff)
		}
	}
}
