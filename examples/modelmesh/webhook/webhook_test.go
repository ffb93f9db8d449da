package webhook_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/kserve/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/webhook"
)

// review sends an object to the handler as the API server does.
func review(t *testing.T, content []byte) *admissionv1.AdmissionResponse {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var object unstructured.Unstructured
	if err := json.Unmarshal(content, &object.Object); err != nil {
		t.Fatal(err)
	}
	gvk := object.GroupVersionKind()
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "1", Kind: metav1.GroupVersionKind(gvk), Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: content},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, webhook.Path, bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	webhook.Handlers(scheme)[webhook.Path].ServeHTTP(answer, request)
	var reviewed admissionv1.AdmissionReview
	if err := json.Unmarshal(answer.Body.Bytes(), &reviewed); err != nil || reviewed.Response == nil {
		t.Fatalf("%v: %s", err, answer.Body)
	}
	return reviewed.Response
}

// TestCases runs the cases of the product.
func TestCases(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name   string
		Given  []json.RawMessage
		Expect struct {
			Allowed bool
			Message string
			Code    int32
		}
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, test := range cases {
		t.Run(test.Name, func(t *testing.T) {
			t.Parallel()
			got := review(t, test.Given[0])
			if got.Allowed != test.Expect.Allowed || got.Result.Message != test.Expect.Message ||
				test.Expect.Code != 0 && got.Result.Code != test.Expect.Code {
				t.Errorf("got %t %+v, want %+v", got.Allowed, got.Result, test.Expect)
			}
		})
	}
}

func TestFurtherRules(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		annotations map[string]string
		spec        string
		code        int32
		message     string
	}{
		"an unknown metric": {
			map[string]string{"autoscalerClass": "hpa", "metrics": "disk"},
			`"multiModel":true`, 403,
			"[disk] is not a supported metric.",
		},
		"an external class": {
			map[string]string{"autoscalerClass": "external"}, `"multiModel":true`, 403, "unknown autoscaler class [external]",
		},
		"an empty class": {
			map[string]string{"autoscalerClass": ""}, `"multiModel":true`, 403, "[] is not a supported autoscaler class type.",
		},
		"no pods": {
			map[string]string{"autoscalerClass": "hpa", "min-scale": "0"},
			`"multiModel":true`, 403,
			"The min replicas should be more than 0",
		},
		"a minimum alone": {
			map[string]string{"autoscalerClass": "hpa", "min-scale": "2"},
			`"multiModel":true`, 403,
			"The max replicas should be same or bigger than min replicas.",
		},
		"bounds without a class": {
			map[string]string{"min-scale": "x"}, `"multiModel":true`, 200, "Passed all validation checks for ServingRuntime",
		},
		"all of a target": {
			map[string]string{"targetUtilizationPercentage": "100"},
			`"multiModel":true`, 200,
			"Passed all validation checks for ServingRuntime",
		},
		"more than a target": {
			map[string]string{"targetUtilizationPercentage": "101"},
			`"multiModel":true`, 403,
			"The target utilization percentage should be a [1-100] integer.",
		},
		"a target in words": {
			map[string]string{"targetUtilizationPercentage": "half"},
			`"multiModel":true`, 403,
			"The target utilization percentage should be a [1-100] integer.",
		},
		"an unknown field": {nil, `"multiModel":true,"unknown":1`, 200, "Passed all validation checks for ServingRuntime"},
		"a wrong type":     {nil, `"multiModel":"yes"`, 400, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			annotations := map[string]string{}
			for key, value := range test.annotations {
				annotations["serving.kserve.io/"+key] = value
			}
			text, err := json.Marshal(annotations)
			if err != nil {
				t.Fatal(err)
			}
			got := review(t, []byte(`{"apiVersion":"serving.kserve.io/v1alpha1","kind":"ServingRuntime","metadata":{"name":"a","annotations":`+
				string(text)+`},"spec":{"containers":[],`+test.spec+`}}`))
			if got.Result.Code != test.code || test.message != "" && got.Result.Message != test.message {
				t.Errorf("got %+v, want %d %s", got.Result, test.code, test.message)
			}
		})
	}
}
