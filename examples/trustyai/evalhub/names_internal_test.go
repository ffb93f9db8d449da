package evalhub

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
)

func hubAt(namespace, name string, second int64) v1.EvalHub {
	return v1.EvalHub{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID(namespace + "/" + name), CreationTimestamp: metav1.NewTime(time.Unix(second, 0)),
	}}
}

// TestNamesOfSeveralHubs checks that the earliest hub has the names of the product, and that no two hubs share a name,
// in any order of the list.
func TestNamesOfSeveralHubs(t *testing.T) {
	t.Parallel()
	hubs := []v1.EvalHub{hubAt("c", "a-b", 3), hubAt("b-c", "a", 2), hubAt("z", "a", 2), hubAt("b-c", "a.b", 9)}
	got := nameAll(hubs)
	if n := got["b-c/a"]; n.pair != "a-b-c" || n.inTenant != "a" {
		t.Errorf("the earliest is %+v", n)
	}
	accounts, prefixes := map[string]bool{}, map[string]bool{}
	for _, n := range got {
		accounts[n.jobAccount()], prefixes[norm(n.inTenant)] = true, true
	}
	if len(accounts) != len(hubs) || len(prefixes) != len(hubs) {
		t.Errorf("names are shared: %v and %v", accounts, prefixes)
	}
	hubs[0], hubs[3] = hubs[3], hubs[0]
	if diff := cmp.Diff(got, nameAll(hubs), cmp.AllowUnexported(names{})); diff != "" {
		t.Errorf("the result depends on the order of the list:\n%s", diff)
	}
}

func TestNorm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"hub.ns": "hub-ns", "A__b--c-": "a-b-c", "..": "x", strings.Repeat("a", 63): strings.Repeat("a", 63)} {
		if got := norm(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	if got := norm(strings.Repeat("a", 64)); len(got) != 63 {
		t.Errorf("got %s", got)
	}
}

func TestOverride(t *testing.T) {
	t.Parallel()
	got := override(
		variables("PORT", "1", "X", "y", "TLS_CERT_FILE", "x", "X", "z", "LOG", "DEBUG"),
		variables("HOST", "h", "PORT", "8444", "LOG", "INFO"), protected,
	)
	if diff := cmp.Diff(variables("PORT", "8444", "X", "y", "LOG", "DEBUG", "HOST", "h"), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTelemetry(t *testing.T) {
	t.Parallel()
	yes := true
	for want, telemetry := range map[string]*v1.Telemetry{
		"requires enableLogs":             {EnableJobContainerLogs: &yes},
		`invalid samplingRatio "a lot"`:   {Exporter: v1.Exporter{SamplingRatio: "a lot"}},
		`invalid tracerTimeout "1x"`:      {TracerTimeout: "1x"},
		`invalid metricExportInterval "-`: {MetricExportInterval: "-1s"},
	} {
		if _, err := telemetryOf(telemetry); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	no := false
	got, err := telemetryOf(&v1.Telemetry{Exporter: v1.Exporter{EnableTracing: &no, SamplingRatio: "0.5"}, TracerTimeout: "2s"})
	if diff := cmp.Diff(tree{"enabled": true, "enable_tracing": false, "sampling_ratio": 0.5, "tracer_timeout": int64(2e9)}, got); err != nil || diff != "" {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	home := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{tenantLabel: ""}}}
	hub := &v1.EvalHub{}
	for _, step := range []struct {
		change func()
		want   string
	}{
		{func() {}, "DatabaseConfigMissing"},
		{func() { hub.Spec.Database = &v1.Database{Type: postgresql} }, "DatabaseConfigInvalid"},
		{func() { hub.Spec.Database.Secret = "s" }, "InvalidPlacement"},
		{func() { hub.Spec.Tenancy = v1.SingleTenancy }, ""},
	} {
		step.change()
		if got := refusal(hub, home).reason; got != step.want {
			t.Errorf("got %q, want %q", got, step.want)
		}
	}
}
