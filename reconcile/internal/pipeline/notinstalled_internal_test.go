package pipeline

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/health"
)

func TestWithNotInstalled(t *testing.T) {
	t.Parallel()
	route := schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"}
	monitor := schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"}
	missing := health.NewError(health.MissingDownstreamDependency, "NotFound", "HTTPRoute not found", nil)
	for name, c := range map[string]struct {
		component health.Component
		kinds     []schema.GroupVersionKind
		want      string
	}{
		"in the error": {
			component: health.Component{Errors: []error{missing}}, kinds: []schema.GroupVersionKind{route},
			want: "HTTPRoute not found; HTTPRoute (gateway.networking.k8s.io/v1) is not installed in the cluster",
		},
		"in the message, only the named kind": {
			component: health.Component{State: health.Progressing, Message: "no ServiceMonitor"}, kinds: []schema.GroupVersionKind{route, monitor},
			want: "no ServiceMonitor; ServiceMonitor (monitoring.coreos.com/v1) is not installed in the cluster",
		},
		"another cause": {health.Component{State: health.Progressing, Message: "starting"}, []schema.GroupVersionKind{route}, "starting"},
		"ready":         {health.Component{State: health.Ready, Message: "no HTTPRoute is needed"}, []schema.GroupVersionKind{route}, "no HTTPRoute is needed"},
		"all installed": {health.Component{Errors: []error{missing}}, nil, "HTTPRoute not found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := []health.Component{c.component}
			if diff := cmp.Diff(c.want, withNotInstalled(before, c.kinds)[0].GetMessage()); diff != "" {
				t.Errorf("message (-want +got)\n%s", diff)
			}
			if before[0].Message != c.component.Message {
				t.Error("the slice of the author has changed")
			}
		})
	}
}
