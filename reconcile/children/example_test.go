package children_test

import (
	"fmt"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/manifests"
	"github.com/reconcilekit/reconcilekit/reconcile/children"
)

func ExampleSet_Plan() {
	scheme := runtime.NewScheme()
	_ = corev1.AddToScheme(scheme)
	templates, err := manifests.Parse(fstest.MapFS{
		"service.yaml": {Data: []byte("apiVersion: v1\nkind: Service\nmetadata: {name: {{.Name}}}\n")},
		"volume.yaml":  {Data: []byte("apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: {{.Name}}-data}\n")},
	}, scheme, "*.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	type web struct {
		Name   string
		Stores bool
	}
	set := &children.Set[web]{Manifests: templates, Children: []children.Child[web]{
		{Template: "service.yaml"},
		{Template: "volume.yaml", When: func(w web) bool { return w.Stores }, Off: children.Keep},
	}}
	plan, err := set.Plan(web{Name: "shop"})
	for _, child := range plan.Children {
		fmt.Println(child.Object.GetName(), "keep:", child.Existing)
	}
	fmt.Println(err)
	// Output:
	// shop keep: false
	// shop-data keep: true
	// <nil>
}
