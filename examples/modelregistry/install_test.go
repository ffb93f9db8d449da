package main

import (
	"errors"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/examples/internal/installed"
)

// TestInstalledConversion checks that each installed CRD with several versions is converted at the Service of the
// operator, and that every namespace of an installed object is installed, too.
func TestInstalledConversion(t *testing.T) {
	t.Parallel()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "config")
	if err != nil {
		t.Fatal(err)
	}
	installed := map[string]bool{}
	for _, resource := range built.Resources() {
		installed[resource.GetKind()+" "+resource.GetNamespace()+"/"+resource.GetName()] = true
	}
	crds := 0
	for _, resource := range built.Resources() {
		if namespace := resource.GetNamespace(); namespace != "" && !installed["Namespace /"+namespace] {
			t.Errorf("%s %s is in the namespace %s, which is not installed", resource.GetKind(), resource.GetName(), namespace)
		}
		if resource.GetKind() != "CustomResourceDefinition" {
			continue
		}
		crds++
		text, err := resource.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, crd); err != nil {
			t.Fatal(err)
		}
		conversion := crd.Spec.Conversion
		if len(crd.Spec.Versions) > 1 && (conversion == nil || conversion.Strategy != apiextensionsv1.WebhookConverter) {
			t.Fatalf("%s has %d versions and no conversion: %+v", crd.Name, len(crd.Spec.Versions), conversion)
		}
		if service := conversion.Webhook.ClientConfig.Service; *service.Path != "/convert" || !installed["Service "+service.Namespace+"/"+service.Name] {
			t.Errorf("%s is converted at %s/%s, which is not installed", crd.Name, service.Namespace, service.Name)
		}
	}
	if crds == 0 {
		t.Error("no CRD is installed")
	}
}

// TestInstalled checks that the operator runs with only the installed files and their certificate, and that a write
// through one version keeps fields that only the other version has.
func TestInstalled(t *testing.T) {
	installed.Run(t, registries(), nil, func(t *testing.T, c client.Client) {
		registry := &unstructured.Unstructured{}
		registry.SetAPIVersion("modelregistry.opendatahub.io/v1beta1")
		registry.SetKind("ModelRegistry")
		registry.SetNamespace("opendatahub")
		registry.SetName("kept")
		spec := map[string]any{
			"rest": map[string]any{}, "postgres": map[string]any{"generateDeployment": true}, "kubeRBACProxy": map[string]any{},
		}
		if err := errors.Join(unstructured.SetNestedMap(registry.Object, spec, "spec"), c.Create(t.Context(), registry)); err != nil {
			t.Fatal(err)
		}
		older := &unstructured.Unstructured{}
		older.SetAPIVersion("modelregistry.opendatahub.io/v1alpha1")
		older.SetKind("ModelRegistry")
		older.SetNamespace("opendatahub")
		older.SetName("kept")
		label := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`))
		if err := errors.Join(c.Patch(t.Context(), older, label), c.Get(t.Context(), client.ObjectKeyFromObject(registry), registry)); err != nil {
			t.Fatal(err)
		}
		_, proxy, _ := unstructured.NestedMap(registry.Object, "spec", "kubeRBACProxy")
		generate, _, _ := unstructured.NestedBool(registry.Object, "spec", "postgres", "generateDeployment")
		if !proxy || !generate {
			t.Errorf("setting a label through v1alpha1 changed the spec: %v", registry.Object["spec"])
		}
	})
}
