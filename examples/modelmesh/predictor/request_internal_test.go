package predictor

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
)

func TestRequests(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spec string
		want mmesh.SetRequest
	}{
		"f1": {
			spec: `{"modelType":{"name":"t","version":"1"},"path":"ignored"}`,
			want: mmesh.SetRequest{
				Target: "f1__ksp-95e33f74bf", Type: "mt:t:1", Key: `{"model_type":{"name":"t","version":"1"}}`,
			},
		},
		"f2": {
			spec: `{"modelType":{"name":"t","version":"1"},"protocolVersion":"grpc-v2",
				"storage":{"path":"p","schemaPath":"s","key":"k","parameters":{"b":"2","a":"1"}}}`,
			want: mmesh.SetRequest{
				Target: "f2__ksp-777c8ec4e0", Type: "mt:t:1|pv:grpc-v2", Path: "p",
				Key: `{"storage_key":"k","storage_params":{"a":"1","b":"2"},"model_type":{"name":"t","version":"1"},"schema_path":"s"}`,
			},
		},
		"f3": {
			spec: `{"modelType":{"name":"t"},"runtime":{"name":"rt1"},"protocolVersion":"v2","path":"pp","schemaPath":"sp","storage":{"s3":{"secretKey":"k"}}}`,
			want: mmesh.SetRequest{
				Target: "f3__ksp-d85275ebec", Type: "rt:rt1", Path: "pp",
				Key: `{"storage_key":"k","model_type":{"name":"t"},"schema_path":"sp"}`,
			},
		},
		"a": {
			spec: `{"modelType":{"name":"tensorflow"},"path":"tfmnist","storage":{"s3":{"secretKey":"localMinIO","bucket":"b"}}}`,
			want: mmesh.SetRequest{
				Target: "a__ksp-6cd5f33b14", Type: "mt:tensorflow", Path: "tfmnist",
				Key: `{"storage_key":"localMinIO","storage_params":{"bucket":"b"},"model_type":{"name":"tensorflow"}}`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var spec v1alpha1.PredictorSpec
			if err := json.Unmarshal([]byte(tc.spec), &spec); err != nil {
				t.Fatal(err)
			}
			got, err := requestFor(fromPredictors, name, &spec, false)
			if err != nil {
				t.Fatal(err)
			}
			tc.want.ID, tc.want.Owner = name, fromPredictors
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInvalidSpecs(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		`{"path":"x","storage":{"path":"yy"}}`:                         "Only one of spec.path and spec.storage.path can be specified",
		`{"schemaPath":"x","storage":{"schemaPath":"yy"}}`:             "Only one of spec.schemaPath and spec.storage.schemaPath can be specified",
		`{"storage":{"persistentVolumeClaim":{"claimName":"c"}}}`:      "spec.storage.PersistentVolumeClaim is not supported",
		`{"storage":{"key":"k","s3":{"secretKey":"c"}}}`:               "spec.storage.s3 cannot be specified with any other keys in spec.storage",
		`{"path":"x","schemaPath":"y","storage":{"s3":{"bucket":""}}}`: "",
		`{"path":"x"}`: "",
	} {
		var parsed v1alpha1.PredictorSpec
		if err := json.Unmarshal([]byte(spec), &parsed); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := validate(&parsed); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", spec, got, want)
		}
	}
}

// TestTypeLabel checks that no runtime name selects any runtime, and that an empty version is a version, which no
// runtime supports.
func TestTypeLabel(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	want := map[string]string{
		`{"modelType":{"name":"foo"}}`:                                              "mt:foo",
		`{"modelType":{"name":"foo","version":""}}`:                                 "mt:foo:",
		`{"modelType":{"name":"foo","version":"1"},"protocolVersion":"v2"}`:         "mt:foo:1|pv:v2",
		`{"modelType":{"name":"foo"},"runtime":{"name":""}}`:                        "mt:foo",
		`{"modelType":{"name":"foo"},"runtime":{"name":"r"}}`:                       "rt:r",
		`{"modelType":{"name":"foo"},"runtime":{"name":""},"protocolVersion":"v2"}`: "mt:foo|pv:v2",
	}
	for text := range want {
		var spec v1alpha1.PredictorSpec
		if err := json.Unmarshal([]byte(text), &spec); err != nil {
			t.Fatal(err)
		}
		got[text] = TypeLabel(&spec)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}
