package layers_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/layers"
)

func ExampleFirst() {
	namespace, cluster := 0, 20
	headroom := layers.First(
		layers.Source[int]{Layer: "namespace", Value: &namespace},
		layers.Source[int]{Layer: "cluster", Value: &cluster},
	)
	fmt.Println(headroom.Or(10), "by", headroom.Layer)
	fmt.Println(layers.First[int]().Or(10), layers.First[int]().Pointer() == nil)
	// Output:
	// 0 by namespace
	// 10 true
}

func ExampleMaps() {
	fmt.Println(layers.Maps(map[string]string{"a": "owner"}, map[string]string{"a": "cluster", "b": "cluster"}))
	// Output: map[a:owner b:cluster]
}
