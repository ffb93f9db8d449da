package shardclaims_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// What a shard reads, it has claimed.
func ExampleReader_Get() {
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "1", Labels: map[string]string{"shard": "blue"}}}
	c := fake.NewClientBuilder().WithObjects(owner).Build()
	fmt.Println(reader(c, "red").Get(context.Background(), client.ObjectKeyFromObject(owner), owner))
	blue := reader(c, "blue")
	fmt.Println(blue.Get(context.Background(), client.ObjectKeyFromObject(owner), owner)) // until the cache shows the claim
	fmt.Println(blue.Get(context.Background(), client.ObjectKeyFromObject(owner), owner))
	if err := c.Get(context.Background(), client.ObjectKeyFromObject(owner), owner); err != nil {
		fmt.Println(err)
	}
	fmt.Println(owner.Annotations)
	// Output:
	// ConfigMap "web" not found
	// ConfigMap "web" not found
	// <nil>
	// map[shard.reconcilekit.dev/shop:blue]
}
