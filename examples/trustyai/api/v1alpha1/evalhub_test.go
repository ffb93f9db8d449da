package v1alpha1_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

// TestConversionKeepsTheHub checks that a read and a write in the older version keep the object, including explicit zeroes and fields
// that exist only in v1.
func TestConversionKeepsTheHub(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"metadata":{"name":"h"},"spec":{"tenancy":"multi"}}`,
		`{"metadata":{"name":"h"},"spec":{"tenancy":"single","providers":[],"collections":[],"env":[],"database":{"type":"sqlite","maxIdleConns":0}}}`,
		`{"metadata":{"name":"h","annotations":{"a":"b"}},"spec":{"tenancy":"multi","mcp":{"enabled":false},"otel":{"enableTracing":false,"serviceName":"s"}}}`,
		`{"metadata":{"name":"h"},"spec":{"tenancy":"multi","otel":{"exporterInsecure":false,"samplingRatio":"0.5"},"mlflow":{"tls":{"caBundle":{"name":"c"}}}}}`,
		`{"metadata":{"name":"h"},"spec":{"tenancy":"multi"},"status":{"phase":"Ready","conditions":[{"type":"Ready","status":"True"}],"mcp":{"ready":false}}}`,
	} {
		var before, after v1.EvalHub
		if err := json.Unmarshal([]byte(text), &before); err != nil {
			t.Fatal(err)
		}
		var older, read v1alpha1.EvalHub
		if err := older.ConvertFrom(&before); err != nil {
			t.Fatal(err)
		}
		sent, err := json.Marshal(older)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(sent, &read); err != nil {
			t.Fatal(err)
		}
		if err := read.ConvertTo(&after); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s (-before +after, by way of %s):\n%s", text, sent, diff)
		}
	}
}

// TestHubOfTheOlderVersion checks that a hub that was created in the older version serves all tenants, and that its exporter replaces that of v1.
func TestHubOfTheOlderVersion(t *testing.T) {
	t.Parallel()
	var hub v1.EvalHub
	if err := (&v1alpha1.EvalHub{}).ConvertTo(&hub); err != nil || hub.Spec.Tenancy != v1.MultiTenancy {
		t.Errorf("got tenancy %q and %v", hub.Spec.Tenancy, err)
	}
	older := &v1alpha1.EvalHub{}
	older.Annotations = map[string]string{"trustyai.opendatahub.io/v1-fields": `{"otel":{"serviceName":"s"}}`}
	older.Spec.OTel = &v1.Exporter{ExporterType: "stdout"}
	if err := older.ConvertTo(&hub); err != nil || hub.Spec.OTel.ServiceName != "s" || hub.Spec.OTel.ExporterType != "stdout" {
		t.Errorf("got %+v and %v", hub.Spec.OTel, err)
	}
	older.Annotations["trustyai.opendatahub.io/v1-fields"] = "{"
	if err := older.ConvertTo(&hub); err == nil {
		t.Error("an annotation with invalid JSON is not reported")
	}
}
