package manifests_test

import (
	"fmt"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/manifests"
)

func ExampleSet_Render() {
	scheme := runtime.NewScheme()
	_ = corev1.AddToScheme(scheme)
	files := fstest.MapFS{"service.yaml": {Data: []byte(`apiVersion: v1
kind: Service
metadata:
  name: {{.Name}}
spec:
{{- if .Internal}}
  type: ClusterIP
{{- end}}
  ports:
  - name: http
    prot: 80
`)}} // in a program, an embed.FS

	set, err := manifests.Parse(files, scheme, "*.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = set.Render("service.yaml", struct {
		Name     string
		Internal bool
	}{"web", true})
	fmt.Println(err)
	// Output: service.yaml:11: unknown field "spec.ports[0].prot"
}
