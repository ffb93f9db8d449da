package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/settings"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/webhook"
)

// TestConfigurations runs the program on the configurations of the recorded cases, and compares what it prints: the
// configuration or the error.
func TestConfigurations(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "modelmesh")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build the operator: %v\n%s", err, out)
	}
	for _, test := range read[struct {
		Name   string
		Given  []corev1.ConfigMap
		Expect struct {
			Config map[string]any
			Error  string
		}
	}](t, "settings/testdata/cases.json") {
		document, found := test.Given[0].Data[settings.Key]
		if !found {
			continue // depends on an existing file; tested in package settings
		}
		t.Run(test.Name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), settings.Key)
			if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
				t.Fatal(err)
			}
			command := exec.CommandContext(t.Context(), program, "--check-config", file)
			var reported bytes.Buffer
			command.Stderr = &reported
			out, err := command.Output()
			var exit *exec.ExitError
			if test.Expect.Error != "" {
				if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(reported.String(), test.Expect.Error) {
					t.Errorf("%v: %s; want exit 1 and %s", err, reported.String(), test.Expect.Error)
				}
				return
			}
			var got any
			if err == nil {
				err = json.Unmarshal(out, &got)
			}
			if err != nil {
				t.Fatalf("%v: %s", err, reported.String())
			}
			if err := match("config", test.Expect.Config, got); err != nil {
				t.Error(err)
			}
		})
	}
}

// review is a recorded case of the webhook.
type review struct {
	Name   string
	Given  []map[string]any
	Expect struct {
		Allowed bool
		Message string
		Code    int32
	}
}

// webhooks runs the cases of the webhook against a process with the given scope, over TLS: directly, and through the API
// server.
func (w *cluster) webhooks(t *testing.T, scope string) {
	t.Helper()
	p := &player{cluster: w, T: t, namespace: "webhooks-" + scope, mesh: newDouble(t)}
	p.create(namespaceOf(p.namespace, nil))
	p.configure("")
	running := w.start(
		t, map[string]string{"NAMESPACE": p.namespace, "NAMESPACE_SCOPE": strconv.FormatBool(scope == oneNamespace)},
		"--leader-elect=false",
	)
	authority, err := os.ReadFile(filepath.Join(w.folder, "tls.crt"))
	p.must(err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	over := &http.Client{
		Timeout:   time.Minute,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}},
	}
	url := "https://" + running.webhooks + webhook.Path
	p.eventually(func() error {
		response, err := over.Get(url)
		if err == nil {
			err = response.Body.Close()
		}
		return err
	})
	p.register(url, authority)
	for _, test := range read[review](t, "webhook/testdata/cases.json") {
		t.Run(test.Name, func(t *testing.T) {
			got := ask(t, over, url, test.Given[0])
			if got.Allowed != test.Expect.Allowed || got.Result.Message != test.Expect.Message ||
				test.Expect.Code != 0 && got.Result.Code != test.Expect.Code {
				t.Errorf("the operator returned %t %+v, want %+v", got.Allowed, got.Result, test.Expect)
			}
			runtime := &unstructured.Unstructured{Object: test.Given[0]}
			if runtime.GetKind() == "ServingRuntime" {
				runtime.SetNamespace(p.namespace)
			}
			err := w.Create(t.Context(), runtime, client.DryRunAll)
			if test.Expect.Allowed != (err == nil) || err != nil && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), test.Expect.Message)) {
				t.Errorf("the API server returned %v, want %+v", err, test.Expect)
			}
		})
	}
}

// register registers the webhook of the process with the API server until the test ends.
func (p *player) register(url string, authority []byte) {
	p.Helper()
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	data, err := os.ReadFile("config/webhook/webhooks.yaml")
	if err == nil {
		err = yaml.Unmarshal(data, configuration)
	}
	p.must(err)
	configuration.Webhooks[0].ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: authority}
	p.must(p.Create(p.Context(), configuration))
	p.Cleanup(func() { _ = p.Delete(context.Background(), configuration) })
	refused := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "serving.kserve.io/v1alpha1", "kind": "ServingRuntime",
		"metadata": map[string]any{
			"name": "probe", "namespace": p.namespace, "annotations": map[string]any{"serving.kserve.io/autoscalerClass": "x"},
		},
		"spec": map[string]any{"multiModel": true, "containers": []any{}},
	}}
	p.eventually(func() error { // the API server loads the configuration with a delay
		if err := p.Create(p.Context(), refused.DeepCopy(), client.DryRunAll); !apierrors.IsForbidden(err) {
			return errors.Join(errors.New("the API server does not call the webhook"), err)
		}
		return nil
	})
}

// ask sends an object for review as the API server does.
func ask(t *testing.T, over *http.Client, url string, object map[string]any) *admissionv1.AdmissionResponse {
	t.Helper()
	content := []byte(text(object))
	gvk := (&unstructured.Unstructured{Object: object}).GroupVersionKind()
	body := text(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "1", Kind: metav1.GroupVersionKind(gvk), Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: content},
		},
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := over.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var reviewed admissionv1.AdmissionReview
	answer, err := io.ReadAll(response.Body)
	if err == nil {
		err = json.Unmarshal(answer, &reviewed)
	}
	if err != nil || reviewed.Response == nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return reviewed.Response
}
