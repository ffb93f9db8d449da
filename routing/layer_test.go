package routing_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/routing"
)

// TestFirst: layers merged field by field keep explicit zeroes of the higher layer.
func TestFirst(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		high, low *int
		want      routing.Choice[int]
	}{
		"silence":            {want: routing.Choice[int]{}},
		"only the low layer": {low: new(20), want: routing.Choice[int]{Value: 20, Layer: "low", Found: true}},
		"explicit zero":      {high: new(0), low: new(20), want: routing.Choice[int]{Value: 0, Layer: "high", Found: true}},
		"value over zero":    {high: new(5), low: new(0), want: routing.Choice[int]{Value: 5, Layer: "high", Found: true}},
	} {
		got := routing.First(routing.Source[int]{Layer: "high", Value: test.high}, routing.Source[int]{Layer: "low", Value: test.low})
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if pointer := got.Pointer(); (pointer != nil) != test.want.Found || pointer != nil && *pointer != test.want.Value {
			t.Errorf("%s: Pointer() = %v", name, pointer)
		}
	}
}

func TestMergeMaps(t *testing.T) {
	t.Parallel()
	high, low := map[string]int{"a": 1}, map[string]int{"a": 2, "b": 2}
	if diff := cmp.Diff(map[string]int{"a": 1, "b": 2}, routing.MergeMaps(high, nil, low)); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	if len(high) != 1 || low["a"] != 2 {
		t.Error("the layers were changed")
	}
	if got := routing.MergeMaps(map[string]int{}, nil); got != nil {
		t.Errorf("merged nothing into %v, want nil", got)
	}
}

// TestResolveTakesGatewayWhole: the higher layer's gateway inherits neither namespace nor listener from the lower one's.
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
	_, err := settings.Path(newWidget())
	checkOutcome(t, err, routing.ReasonPathTemplateInvalid, `path template in the cluster's configuration "/{": `)
	_, err = settings.RequestTimeout()
	checkOutcome(t, err, routing.ReasonTimeoutInvalid, `timeout in the cluster's configuration "-1s": `)
	_, err = routing.Resolve().Path(&metav1.ObjectMeta{Name: "a"})
	checkOutcome(t, err, routing.ReasonPathTemplateInvalid, `collapses to "/"`)
	if path, err := routing.Resolve().Path(&metav1.ObjectMeta{Name: "a"}, routing.AllowRoot); path != "/" || err != nil {
		t.Errorf("path = %q, %v, want /", path, err)
	}
	if timeout, err := routing.Resolve().RequestTimeout(); timeout != nil || err != nil {
		t.Errorf("timeout = %v, %v, want none", timeout, err)
	}
}
