package routing_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/routing"
	"github.com/reconcilekit/reconcilekit/routing/pathtemplate"
)

// TestFirst: layers merged field by field keep explicit zeroes of the higher layer.
func TestResolveTakesGatewayWhole(t *testing.T) {
	t.Parallel()
	low := &gatewayv1.ParentReference{Namespace: new(gatewayv1.Namespace("infra")), Name: "shared", SectionName: new(gatewayv1.SectionName("https"))}
	settings := routing.Resolve(
		routing.Layer{Name: "namespace", Gateway: &gatewayv1.ParentReference{Name: "own"}},
		routing.Layer{Name: "cluster", Gateway: low, Enabled: new(true)},
	)
	parent, err := settings.Parent()
	if diff := cmp.Diff(&gatewayv1.ParentReference{Name: "own"}, parent); diff != "" || err != nil {
		t.Errorf("parent %v (-want +got):\n%s", err, diff)
	}
	settings = routing.Resolve(routing.Layer{Name: "cluster", Gateway: low, Enabled: new(true)})
	*low.Namespace = "changed"
	if parent, _ := settings.Parent(); *parent.Namespace != "infra" {
		t.Error("the settings share memory with the layer")
	}
}

func TestParentMissing(t *testing.T) {
	t.Parallel()
	_, err := routing.Resolve(routing.Layer{Name: "spec.routing", Enabled: new(true)}).Parent()
	checkOutcome(t, err, routing.ReasonGatewayNotConfigured, "routing is enabled by spec.routing, and nothing names a gateway")
	for name, layer := range map[string]routing.Layer{
		"off":    {Enabled: new(false), Gateway: &gatewayv1.ParentReference{Name: "a"}},
		"silent": {Gateway: &gatewayv1.ParentReference{Name: "a"}},
	} {
		if parent, err := routing.Resolve(layer).Parent(); parent != nil || err != nil {
			t.Errorf("%s: %v, %v, want no parent", name, parent, err)
		}
	}
}

// TestSettingsNameTheLayer: a bad setting is reported where it stands.
func TestSettingsNameTheLayer(t *testing.T) {
	t.Parallel()
	settings := routing.Resolve(routing.Layer{Name: "spec.routing"}, routing.Layer{
		Name: "the cluster's configuration", PathTemplate: new("/{"), Timeout: &metav1.Duration{Duration: -time.Second},
	})
	_, err := settings.Path(&metav1.ObjectMeta{Namespace: "team-a", Name: "demo", UID: "u-1"}, pathtemplate.Options{})
	checkOutcome(t, err, "PathTemplateInvalid", `path template in the cluster's configuration "/{": `)
	_, err = settings.RequestTimeout()
	checkOutcome(t, err, "TimeoutInvalid", `timeout in the cluster's configuration "-1s": `)
	_, err = routing.Resolve().Path(&metav1.ObjectMeta{Name: "a"}, pathtemplate.Options{})
	checkOutcome(t, err, "PathTemplateInvalid", `collapses to "/"`)
	if path, err := routing.Resolve().Path(&metav1.ObjectMeta{Name: "a"}, pathtemplate.Options{AllowRoot: true}); path != "/" || err != nil {
		t.Errorf("path = %q, %v, want /", path, err)
	}
	if timeout, err := routing.Resolve().RequestTimeout(); timeout != nil || err != nil {
		t.Errorf("timeout = %v, %v, want none", timeout, err)
	}
}
