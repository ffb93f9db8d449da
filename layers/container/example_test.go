package container_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/reconcilekit/reconcilekit/layers/container"
)

func Example() {
	cluster := []corev1.EnvVar{{Name: "MODE", Value: "safe"}, {Name: "ARGS", Value: `{"batch":8,"cache":{"size":1}}`}}
	owner := []corev1.EnvVar{{Name: "ARGS", Value: `{"cache":{"size":4}}`}}
	for _, variable := range (container.Env{JSON: []string{"ARGS"}}).Merge(owner, cluster) {
		fmt.Println(variable.Name, variable.Value)
	}

	gpus := func(n string) corev1.ResourceList {
		return corev1.ResourceList{"example.com/gpu": resource.MustParse(n)}
	}
	profile := &corev1.ResourceRequirements{Requests: gpus("1"), Limits: gpus("1")}
	merged := container.Resources(&corev1.ResourceRequirements{Requests: gpus("2")}, profile)
	fmt.Println("GPU limit", merged.Limits.Name("example.com/gpu", resource.DecimalSI))
	// Output:
	// MODE safe
	// ARGS {"batch":8,"cache":{"size":4}}
	// GPU limit 2
}
