package e2e_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// TestSharded checks that sharded/ has the objects of quickstart/config, with a StatefulSet instead of the Deployment.
// Each Pod of the StatefulSet passes the number of its shard to the operator.
func TestSharded(t *testing.T) {
	env.Require(t)
	names := func(objects []*unstructured.Unstructured) (names []string, template corev1.PodTemplateSpec) {
		for _, object := range objects {
			if kind := object.GetKind(); kind != "Deployment" && kind != "StatefulSet" {
				names = append(names, kind+" "+object.GetName())
				continue
			}
			pods, _, err := unstructured.NestedMap(object.Object, "spec", "template")
			if err != nil {
				t.Fatal(err)
			}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(pods, &template); err != nil {
				t.Fatal(err)
			}
		}
		slices.Sort(names)
		return names, template
	}
	objects := built(t, "sharded")
	others, template := names(objects)
	wantOthers, want := names(built(t, "../../quickstart/config"))
	container := &template.Spec.Containers[0]
	args := container.Args
	want.Spec.Containers[0].Args, container.Args = nil, nil
	container.Env = slices.DeleteFunc(container.Env, func(v corev1.EnvVar) bool { return v.Name == "SHARD" })
	if diff := cmp.Diff([]any{wantOthers, want}, []any{others, template}); diff != "" {
		t.Errorf("sharded/ differs from quickstart/config (-want +got):\n%s", diff)
	}
	at := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "StatefulSet" })
	if at < 0 {
		t.Fatal("no StatefulSet")
	}
	set := objects[at]
	set.SetNamespace(env.Namespace(t))
	if err := client.WithFieldValidation(env.Client(), "Strict").Create(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	replicas, _, err := unstructured.NestedInt64(set.Object, "spec", "replicas")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("--shard-count=%d", replicas); !slices.Contains(args, want) {
		t.Errorf("arguments %q, want %s, the number of replicas", args, want)
	}
	for shard := range replicas {
		if lease := fmt.Sprintf("quickstart.example.com-shard-%d", shard); !slices.Contains(leases(t, objects), lease) {
			t.Errorf("the Role permits the leases %q, want %s", leases(t, objects), lease)
		}
	}
	if !slices.Contains(args, "--shard-name=$(SHARD)") {
		t.Errorf("arguments %q, want --shard-name=$(SHARD)", args)
	}
}

// leases returns the leases that the Roles permit to update.
func leases(t *testing.T, objects []*unstructured.Unstructured) (names []string) {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() != "Role" {
			continue
		}
		role := rbacv1.Role{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			if slices.Contains(rule.Resources, "leases") && slices.Contains(rule.Verbs, "update") {
				names = append(names, rule.ResourceNames...)
			}
		}
	}
	return names
}

// built returns the objects that kustomize builds from a folder.
func built(t *testing.T, folder string) []*unstructured.Unstructured {
	t.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	for _, resource := range resources.Resources() {
		text, err := resource.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(text); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	return objects
}
