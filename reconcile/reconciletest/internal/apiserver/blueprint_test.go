package apiserver_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/apiserver"
)

// typedKind describes the typed client of a built-in kind: whether it takes a namespace, and whether it can write the status.
type typedKind struct{ namespaced, status bool }

// typedKinds returns the built-in kinds that can be created, from their typed clients.
func typedKinds(t *testing.T) map[schema.GroupVersionKind]typedKind {
	t.Helper()
	found := map[schema.GroupVersionKind]typedKind{}
	all := reflect.TypeFor[kubernetes.Interface]()
	for of := range all.Methods() {
		for method := range of.Type.Out(0).Methods() {
			getter := method.Type
			if getter.NumOut() != 1 || getter.Out(0).Kind() != reflect.Interface {
				continue
			}
			create, creates := getter.Out(0).MethodByName("Create")
			if !creates || create.Type.NumOut() != 2 {
				continue
			}
			obj, ok := reflect.New(create.Type.Out(0).Elem()).Interface().(runtime.Object)
			if !ok {
				continue
			}
			gvks, _, err := clientgoscheme.Scheme.ObjectKinds(obj)
			if err != nil {
				t.Fatal(err)
			}
			_, status := getter.Out(0).MethodByName("UpdateStatus")
			found[gvks[0]] = typedKind{namespaced: getter.NumIn() == 1, status: status}
		}
	}
	return found
}

// TestBuiltInScopes checks that built-in kinds are namespaced if their typed clients are.
func TestBuiltInScopes(t *testing.T) {
	t.Parallel()
	blueprint, err := apiserver.NewBlueprint(clientgoscheme.Scheme, nil)
	if err != nil {
		t.Fatal(err)
	}
	server, kinds := apiserver.New(clientgoscheme.Scheme, blueprint, clock.RealClock{}, nil), typedKinds(t)
	if len(kinds) < 80 {
		t.Fatalf("the typed clients have only %d kinds", len(kinds))
	}
	for gvk, want := range kinds {
		mapping, err := server.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		if err != nil {
			t.Errorf("%s: %v", gvk, err)
			continue
		}
		if got := mapping.Scope.Name() == meta.RESTScopeNameNamespace; got != want.namespaced || server.ClusterScoped(gvk) == want.namespaced {
			t.Errorf("%s is namespaced: %t, want %t", gvk, got, want.namespaced)
		}
	}
}

// TestBuiltInStatus checks that a built-in kind has the status subresource if its typed client has UpdateStatus.
func TestBuiltInStatus(t *testing.T) {
	t.Parallel()
	blueprint, err := apiserver.NewBlueprint(clientgoscheme.Scheme, nil)
	if err != nil {
		t.Fatal(err)
	}
	for gvk, want := range typedKinds(t) {
		if got := blueprint.HasStatus(gvk); got != want.status {
			t.Errorf("%s has a status: %t, want %t", gvk, got, want.status)
		}
	}
}

// TestMapping checks that a kind without a version is mapped to the server's preferred version, with the plural of its CRD.
func TestMapping(t *testing.T) {
	t.Parallel()
	crd := widget.CRD()
	crd.Spec.Names.Plural, crd.Spec.Scope = "widgetry", apiextensionsv1.ClusterScoped
	old, hidden := *crd.Spec.Versions[0].DeepCopy(), *crd.Spec.Versions[0].DeepCopy()
	old.Name, old.Schema, old.Subresources, hidden.Name, hidden.Served = "v1beta1", nil, nil, "v2", false
	crd.Spec.Versions = append([]apiextensionsv1.CustomResourceDefinitionVersion{old, hidden}, crd.Spec.Versions...)
	blueprint, err := apiserver.NewBlueprint(schemeOf(t), []*apiextensionsv1.CustomResourceDefinition{crd})
	if err != nil {
		t.Fatal(err)
	}
	server := apiserver.New(schemeOf(t), blueprint, clock.RealClock{}, nil)
	for kind, want := range map[schema.GroupKind]string{
		{Group: widget.GroupVersion.Group, Kind: "Widget"}:        "test.reconcilekit.dev/v1 widgetry root",
		{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:   "autoscaling/v2 horizontalpodautoscalers namespace",
		{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:       "networking.k8s.io/v1 networkpolicies namespace",
		{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}: "rbac.authorization.k8s.io/v1 clusterroles root",
		{Kind: "Endpoints"}: "/v1 endpoints namespace",
		{Group: "gateway.networking.k8s.io", Kind: "NobodyKnowsThose"}: "",
	} {
		mapping, err := server.Mapper.RESTMapping(kind)
		switch {
		case want == "" && meta.IsNoMatchError(err):
		case err != nil:
			t.Errorf("%s: %v", kind, err)
		default:
			r := mapping.Resource
			if got := r.Group + "/" + r.Version + " " + r.Resource + " " + string(mapping.Scope.Name()); got != want {
				t.Errorf("%s is mapped to %s, want %s", kind, got, want)
			}
		}
	}
	versions := map[string]bool{}
	for _, gvk := range server.Kinds() {
		if gvk.Kind == "Widget" {
			versions[gvk.Version] = true
		}
	}
	if diff := cmp.Diff(map[string]bool{"v1": true, "v1beta1": true}, versions); diff != "" {
		t.Errorf("served versions (-want +got):\n%s", diff)
	}
	if beta := widget.GroupVersion.WithKind("Widget"); !blueprint.HasStatus(beta) || blueprint.HasStatus(schema.GroupVersionKind{Group: beta.Group, Version: "v1beta1", Kind: beta.Kind}) {
		t.Error("the versions have the wrong status subresource")
	}
}

func TestEnum(t *testing.T) {
	t.Parallel()
	blueprint, kind := bounded(t, 5), widget.GroupVersion.WithKind("Widget")
	for path, want := range map[string][]any{"status.state": {"Ready"}, "spec.message": nil, "spec": nil, "nowhere": nil} {
		if diff := cmp.Diff(want, blueprint.Enum(kind, strings.Split(path, "."))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	var none *apiserver.Blueprint
	if none.Enum(kind, []string{"status", "state"}) != nil || blueprint.Enum(kind.GroupVersion().WithKind("Other"), []string{"status", "state"}) != nil {
		t.Error("a kind without a schema has values")
	}
}

// TestUsed checks that the server lists all kinds that ever had objects.
func TestUsed(t *testing.T) {
	t.Parallel()
	server := serverWith(t, settings)
	if err := server.Client.Delete(t.Context(), parse(t, settings)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[schema.GroupVersionKind]bool{{Version: "v1", Kind: "ConfigMap"}: true}, server.Used()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if all, err := server.List(schema.GroupVersionKind{Group: "none", Version: "v1", Kind: "None"}); err != nil || len(all) != 0 {
		t.Errorf("of an unknown kind: %v, %v", all, err)
	}
}
