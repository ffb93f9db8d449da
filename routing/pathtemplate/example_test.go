package pathtemplate_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/routing/pathtemplate"
)

// shop returns an example custom resource; any API type can be used.
func shop() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: "Shop", UID: "0b5e",
			Labels:      map[string]string{"example.com/tenant": "Blue_1"},
			Annotations: map[string]string{"example.com/path": "V1/Orders"},
		},
		Data: map[string]string{"image": "acme/shop:1.2"},
	}
}

func ExampleParse() {
	template, err := pathtemplate.Parse("/{.metadata.namespace}/{.metadata.name}/{.data.image}", pathtemplate.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	path, err := template.Render(shop())
	fmt.Println(path, err)

	_, err = pathtemplate.Parse("/{.metadata.name", pathtemplate.Options{Field: "spec.path"})
	fmt.Println(err)
	// Output:
	// /team-a/shop/acme-shop-1-2 <nil>
	// PathTemplateInvalid: spec.path "/{.metadata.name": the brace at byte 2 is not closed: expressions look like {.metadata.name}, a literal brace like \{
}

// renderShop parses and renders a template; a controller with a Cache does the same.
func renderShop(template string, o pathtemplate.Options) (string, error) {
	parsed, err := pathtemplate.Parse(template, o)
	if err != nil {
		return "", err
	}
	return parsed.Render(shop())
}

func ExampleTemplate_Render() {
	for _, template := range []string{
		"/{.metadata.labels['example.com/tenant']}/{.metadata.annotations['example.com/path']}",
		"/{.metadata.labels.missing}",
		"/___",
	} {
		path, err := renderShop(template, pathtemplate.Options{})
		fmt.Printf("%q %v\n", path, err)
	}
	path, err := renderShop(`/\{v1\}/{.metadata.name} é`, pathtemplate.Options{Encoded: true})
	fmt.Println(path, err)
	// Output:
	// "/blue-1/v1/orders" <nil>
	// "" PathTemplateInvalid: path template "/{.metadata.labels.missing}": failed to evaluate route template ".metadata.labels.missing": jsonpath evaluation error: missing is not found: an expression must give exactly one string, number or boolean of the object
	// "" PathTemplateInvalid: path template "/___": the path collapses to "/", which would match every request of the listener: add a segment with letters or digits
	// /%7Bv1%7D/Shop%20%C3%A9 <nil>
}

func ExampleCache() {
	var cache pathtemplate.Cache // one per controller
	for range 2 {                // the second iteration compiles nothing
		fmt.Println(renderShop("/{.metadata.name}", pathtemplate.Options{Cache: &cache}))
	}
	// Output:
	// /shop <nil>
	// /shop <nil>
}
