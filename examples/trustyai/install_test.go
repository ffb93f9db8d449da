package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/internal/installed"
	v1 "github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
)

// TestInstalled: what is shipped is enough to run, and to convert.
func TestInstalled(t *testing.T) {
	installed.Run(t, trustyai(), []string{"config/foreign"}, writtenByBothVersions)
}

// writtenByBothVersions: what a user has said explicitly is still there when the operator has seen it and when somebody has written the older
// version, and so is what that version cannot say.
func writtenByBothVersions(t *testing.T, c client.Client) {
	t.Helper()
	const namespace = "versions"
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "opendatahub", Name: images.ConfigMap},
			Data:       map[string]string{images.Service: "img/tas:1", images.Proxy: "img/krp:1", images.EvalHub: "img/eh:1"},
		},
	} {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	for kind, spec := range map[string]map[string]any{
		"EvalHub": {
			"database": map[string]any{"type": "sqlite", "maxOpenConns": int64(1), "maxIdleConns": int64(0)}, "replicas": int64(1),
			"providers": []any{}, "collections": []any{}, "env": []any{}, "tenancy": "single",
			"otel": map[string]any{
				"exporterType": "stdout", "samplingRatio": "0", "exporterInsecure": false, "enableTracing": false,
				"enableJobContainerLogs": false, "serviceName": "mine",
			},
			"mlflow": map[string]any{"tls": map[string]any{"caBundle": map[string]any{"name": "mine", "key": "ca"}}},
			"mcp":    map[string]any{"enabled": false, "transport": "http", "env": []any{}},
		},
		"TrustyAIService": {
			"storage": map[string]any{"format": "PVC", "size": "1Gi"}, "data": map[string]any{}, "replicas": int64(0),
			"metrics": map[string]any{"schedule": "5s", "batchSize": int64(0)},
		},
	} {
		t.Run(kind, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
			object.SetGroupVersionKind(v1.GroupVersion.WithKind(kind))
			object.SetNamespace(namespace)
			object.SetName("mine")
			if err := c.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			patiently(t, func() error {
				seen := read(t, c, object, v1.GroupVersion)
				if phase, _, _ := unstructured.NestedString(seen.Object, "status", "phase"); phase == "" || len(seen.GetFinalizers()) == 0 {
					return fmt.Errorf("the operator has not seen it: %v", seen.Object["status"])
				}
				return nil
			})
			patiently(t, func() error {
				older := read(t, c, object, v1alpha1.GroupVersion)
				older.SetLabels(map[string]string{"written": "by-the-older-version"})
				return c.Update(t.Context(), older)
			})
			after := read(t, c, object, v1.GroupVersion)
			if diff := cmp.Diff(spec, after.Object["spec"]); diff != "" {
				t.Errorf("the spec is another one (-before +after):\n%s", diff)
			}
			if after.GetGeneration() != 1 || after.GetLabels()["written"] == "" || after.GetAnnotations()["trustyai.opendatahub.io/v1-fields"] != "" {
				t.Errorf("its generation is %d, its metadata are %v", after.GetGeneration(), after.Object["metadata"])
			}
		})
	}
}

// read reads an object in a version.
func read(t *testing.T, c client.Client, object *unstructured.Unstructured, version schema.GroupVersion) *unstructured.Unstructured {
	t.Helper()
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(version.WithKind(object.GetKind()))
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), out); err != nil {
		t.Fatal(err)
	}
	return out
}

func patiently(t *testing.T, try func() error) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		switch err := try(); {
		case err == nil:
			return
		case time.Now().After(end):
			t.Fatal(err)
		}
	}
}
