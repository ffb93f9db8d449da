package main

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
)

var metaWebsites = schema.GroupVersionResource{Resource: "websites"}

// TestNames checks that the names in this module equal those of the library, which it does not import.
func TestNames(t *testing.T) {
	t.Parallel()
	for file, names := range map[string][]string{
		"reconcile/internal/pipeline/pause.go":                     {`"` + pausedAnnotation + `"`},
		"reconcile/internal/pipeline/requestannotation.go":         {`"/` + strings.TrimPrefix(requestAnnotation, "reconcilekit.dev/") + `"`, `"reconcile-handled-at"`},
		"reconcile/apply/group.go":                                 {`"reconcilekit.dev"`},
		"reconcile/controller/explain.go":                          {`"` + explainPath + `"`},
		"reconcile/operator/servepreview.go":                       {`"` + previewPath + `"`, `query.Get("output")`},
		"reconcile/explain/owner.go":                               {`json:"found"`, `json:"process,omitempty"`, `json:"last,omitempty"`},
		"reconcile/install/templates/network/metrics_service.yaml": {operatorLabel + ":", reconcilesAnnotation + ":"},
		"reconcile/install/templates/rbac/metrics.yaml":            {"-explainer", "-kubectl", "-previewer", previewPath},
		"reconcile/install/templates/manager/deployment.yaml":      {"- name: " + metricsPort},
		"docs/operations.md":                                       {"kubectl reconcilekit"},
		"cmd/kubectl-reconcilekit/kubectl_complete-reconcilekit":   {"kubectl-reconcilekit __complete"},
		"cmd/kubectl-reconcilekit/krew.yaml":                       {"name: reconcilekit"},
	} {
		raw, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, name := range names {
			if !strings.Contains(string(raw), name) {
				t.Errorf("%s has no %q", file, name)
			}
		}
	}
}

func TestHandled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		annotations map[string]string
		want        bool
	}{
		"by no controller":        {map[string]string{requestAnnotation: "now"}, false},
		"an earlier request":      {map[string]string{"a" + handledSuffix: "then"}, false},
		"by the controller":       {map[string]string{"a" + handledSuffix: "now"}, true},
		"by one of two":           {map[string]string{"a" + handledSuffix: "now", "b" + handledSuffix: "then"}, false},
		"by both":                 {map[string]string{"a" + handledSuffix: "now", "b" + handledSuffix: "now"}, true},
		"with other annotations":  {map[string]string{"a" + handledSuffix: "now", "b": "c"}, true},
		"without any annotations": {nil, false},
	} {
		o := &unstructured.Unstructured{}
		o.SetAnnotations(c.annotations)
		if got := handled(o, "now"); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

func TestWorth(t *testing.T) {
	t.Parallel()
	order := []explained{
		{Process: "NotSynced"}, {Found: true, Process: "Standby"}, {}, {Found: true},
	}
	for i := 1; i < len(order); i++ {
		if before, after := worth(order[i-1:i]), worth(order[i:i+1]); before >= after {
			t.Errorf("%+v has the rank %d, %+v %d", order[i-1], before, order[i], after)
		}
	}
	if got := worth(order); got != worthMost {
		t.Errorf("the highest rank is %d, want %d", got, worthMost)
	}
}

func TestFindOperator(t *testing.T) {
	t.Parallel()
	service := func(namespace, name, kinds string) *corev1.Service {
		return &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: name + "-metrics", Labels: map[string]string{operatorLabel: name}, Annotations: map[string]string{reconcilesAnnotation: kinds},
			},
			Spec: corev1.ServiceSpec{Selector: map[string]string{"app": name}},
		}
	}
	clients := fake.NewClientset(service("a", "shop", "shops.example.com,carts.example.com"), service("b", "shop", "shops.example.com"), service("c", "bare", ""),
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "other"}})
	for name, c := range map[string]struct {
		namespace, operator, resource string
		want, err                     string
	}{
		"by the kind":             {"", "", "carts.example.com", "a/shop", ""},
		"by the namespace":        {"b", "", "shops.example.com", "b/shop", ""},
		"by the name":             {"", "bare", "shops.example.com", "c/bare", ""},
		"several":                 {"", "", "shops.example.com", "", "choose one with --operator and --operator-namespace: a/shop, b/shop"},
		"none":                    {"", "", "pods", "", "no operator says that it reconciles pods; --operator chooses one of: a/shop, b/shop, c/bare"},
		"none in this namespace":  {"d", "", "shops.example.com", "", "no operator says"},
		"not one of another name": {"", "other", "shops.example.com", "", "no operator says"},
	} {
		found, err := findOperator(t.Context(), clients, c.namespace, c.operator, c.resource)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", name, err, c.err)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case found.String() != c.want || found.selector != "app="+found.name:
			t.Errorf("%s: %+v, want %s", name, found, c.want)
		}
	}
}

func TestAccountFor(t *testing.T) {
	t.Parallel()
	running := &operator{name: "shop", namespace: "operators"}
	for name, c := range map[string]struct{ flag, namespace, want string }{
		"none":                     {"", "a", "a/shop-previewer"},
		"none of a cluster's kind": {"", "", "operators/shop-previewer"},
		"a name":                   {"ada", "a", "a/ada"},
		"another namespace":        {"b/ada", "a", "b/ada"},
	} {
		namespace, account := accountFor(c.flag, &owner{namespace: c.namespace}, running)
		if got := namespace + "/" + account; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
