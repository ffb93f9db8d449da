package kinds_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/kinds"
)

// A registry finds version and scope of a planned object.
func Example() {
	mapper := apimeta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), apimeta.RESTScopeNamespace)
	c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithRESTMapper(mapper).Build()
	registry := &kinds.Registry{Client: c}
	child := &apply.Child{Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: "shop"}}}
	kind, err := registry.Of(child)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(kind.GVK.Kind, kind.Namespaced, kinds.Key(child))
	// Output:
	// ConfigMap true shop/settings
}
