package main

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// TestInstalledConversion: what is installed converts between the versions of a CRD that has several, at the service of the operator, and
// every namespace that something is installed into is installed, too.
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
