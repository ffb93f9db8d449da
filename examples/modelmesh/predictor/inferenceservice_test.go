package predictor_test

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/kserve/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/predictor"
)

const mode = "serving.kserve.io/deploymentMode"

func serviceOf(name, mode string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService",
		"metadata": map[string]any{"name": name, "annotations": map[string]any{"serving.kserve.io/deploymentMode": mode}},
		"spec":     map[string]any{"predictor": map[string]any{"sklearn": map[string]any{"storageUri": "s3://b/p"}}},
	}}
}

func (w *installation) patch(o *unstructured.Unstructured, text string) {
	GinkgoHelper()
	Expect(w.c.Patch(w.ctx, o.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(text)))).To(Succeed())
}

func (w *installation) read(o *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(o.GroupVersionKind())
	_ = w.c.Get(w.ctx, client.ObjectKeyFromObject(o), out)
	return out
}

var _ = Describe("InferenceService", func() {
	It("ignores InferenceServices of KServe, releases one that ModelMesh no longer serves, and keeps the model of an invalid one", func(ctx context.Context) {
		w := newInstallation(ctx)
		serverless, service := serviceOf("serverless", "Serverless"), serviceOf("mesh", "ModelMesh")
		for _, o := range []*unstructured.Unstructured{serverless, service} {
			w.create(o.Object)
		}
		w.statusOf(service, map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}})
		Expect(w.mesh.VModels()).To(Equal(map[string]string{"mesh": "isvc"}))
		untouched := w.read(serverless)
		Expect(untouched.GetFinalizers()).To(BeEmpty())
		Expect(untouched.Object).NotTo(HaveKey("status"))
		for _, c := range w.read(service).Object["status"].(map[string]any)["conditions"].([]any) {
			Expect(c).NotTo(HaveKey("observedGeneration"))
			Expect(c.(map[string]any)["type"]).To(BeElementOf("Ready", "PredictorReady"))
		}

		w.patch(service, `{"spec":{"predictor":{"sklearn":{"storageUri":"ftp://b/p"}}}}`)
		w.statusOf(service, map[string]any{"modelStatus": map[string]any{
			"transitionStatus": "InvalidSpec", "lastFailureInfo": map[string]any{"reason": "InvalidPredictorSpec"},
		}})
		Expect(w.mesh.VModels()).To(HaveKey("mesh"))

		w.patch(service, `{"metadata":{"annotations":{"serving.kserve.io/deploymentMode":"RawDeployment"}}}`)
		Eventually(w.mesh.VModels).Should(BeEmpty())
		Eventually(func() []string { return w.read(service).GetFinalizers() }).Should(BeEmpty())

		w.patch(service, `{"metadata":{"annotations":{"serving.kserve.io/deploymentMode":"ModelMesh"}},"spec":{"predictor":{"sklearn":{"storageUri":"s3://b/p"}}}}`)
		Eventually(w.mesh.VModels).Should(HaveKey("mesh"))
		Expect(w.c.Delete(ctx, service.DeepCopy())).To(Succeed())
		Eventually(w.mesh.VModels).Should(BeEmpty())
	})
})

func TestSpecOf(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		predictor   string
		annotations map[string]string
		want, err   string
	}{
		"no framework":            {predictor: `{}`, err: "no valid InferenceService predictor framework found"},
		"a model and a framework": {predictor: `{"model":{"modelFormat":{"name":"a"}},"onnx":{}}`, err: "model and onnx are set"},
		"no storage":              {predictor: `{"onnx":{}}`, err: "exactly one of storageUri and storage.path"},
		"two places": {
			predictor: `{"onnx":{"storageUri":"s3://b/p","storage":{"path":"p"}}}`, err: "exactly one of storageUri and storage.path",
		},
		"an unsupported scheme": {predictor: `{"onnx":{"storageUri":"ftp://b/p"}}`, err: "want one of the schemes"},
		"no scheme":             {predictor: `{"onnx":{"storageUri":"b/p"}}`, err: "want one of the schemes"},
		"a broken URI":          {predictor: `{"onnx":{"storageUri":"s3://%zz"}}`, err: "storageUri"},
		"a runtime and a model": {
			predictor:   `{"model":{"modelFormat":{"name":"a"},"storageUri":"s3://b/p"}}`,
			annotations: map[string]string{"serving.kserve.io/servingRuntime": "r"}, err: "servingRuntime",
		},
		"the first of frameworks": {
			predictor: `{"onnx":{},"xgboost":{"storageUri":"gs://b/p"}}`,
			want:      `{"modelType":{"name":"xgboost"},"path":"","storage":{"path":"p","parameters":{"bucket":"b","type":"gcs"}}}`,
		},
		"a runtime of a framework": {
			predictor: `{"pmml":{"storage":{"path":"p"}}}`, annotations: map[string]string{"serving.kserve.io/servingRuntime": "r"},
			want: `{"modelType":{"name":"pmml"},"path":"","storage":{"path":"p"},"runtime":{"name":"r"}}`,
		},
		"a runtime of a model":      {predictor: `{"model":{"modelFormat":{"name":"a","version":"1"},"runtime":"r","protocolVersion":"","storageUri":"pvc://c"}}`, want: `{"modelType":{"name":"a","version":"1"},"path":"","storage":{"path":"","parameters":{"name":"c","type":"pvc"}},"runtime":{"name":"r"}}`},
		"annotations of the source": {predictor: `{"onnx":{"storageUri":"https://h/a%20b/c?q=1"}}`, annotations: map[string]string{"serving.kserve.io/secretKey": "k", "serving.kserve.io/schemaPath": "s"}, want: `{"modelType":{"name":"onnx"},"path":"","storage":{"path":"a b/c","schemaPath":"s","parameters":{"type":"http","url":"https://h?q=1"},"key":"k"}}`},
		"azure":                     {predictor: `{"onnx":{"storageUri":"http://acct.blob.core.windows.net/c/p/q"}}`, want: `{"modelType":{"name":"onnx"},"path":"","storage":{"path":"p/q","parameters":{"account_name":"acct","container":"c","type":"azure"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &v1beta1.InferenceService{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{mode: "ModelMesh"}}}
			if err := json.Unmarshal([]byte(tc.predictor), &s.Spec.Predictor); err != nil {
				t.Fatal(err)
			}
			maps.Copy(s.Annotations, tc.annotations)
			spec, err := predictor.SpecOf(s)
			switch {
			case tc.err != "":
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("error %v, want %q", err, tc.err)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			got, _ := json.Marshal(spec)
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
			delete(s.Annotations, mode)
			if spec, err := predictor.SpecOf(s); spec != nil || err != nil {
				t.Errorf("without the annotation: %v, %v; want nothing", spec, err)
			}
		})
	}
}

// TestConditionsOfOthers checks that setting conditions keeps those of KServe unchanged, including times in any format.
func TestConditionsOfOthers(t *testing.T) {
	t.Parallel()
	s := &v1beta1.InferenceService{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{mode: "ModelMesh"}}}
	ingress := v1beta1.Condition{Type: "IngressReady", Status: "True", Severity: "Info", LastTransitionTime: "soon"}
	ready := v1beta1.Condition{Type: "Ready", Status: "True", Severity: "Warning", Reason: "R"}
	s.Status.Conditions = []v1beta1.Condition{ingress, ready}
	var services predictor.Services
	list := services.GetConditions(s)
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	list = append(
		list, metav1.Condition{Type: "PredictorReady", Status: "False", LastTransitionTime: at},
		metav1.Condition{Type: "Stalled", Status: "True"},
	)
	services.SetConditions(s, list)
	want := []v1beta1.Condition{ingress, ready, {Type: "PredictorReady", Status: "False", LastTransitionTime: "2026-01-02T03:04:05Z"}}
	if diff := cmp.Diff(want, s.Status.Conditions); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}
