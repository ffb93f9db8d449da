package sparse_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	source "k8s.io/client-go/tools/cache/testing"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/sparse"
)

func Example() {
	cluster := source.NewFakeControllerSource() // in the place of an API server
	cluster.Add(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "theirs"}, StringData: map[string]string{"password": "long"}})
	ours := sparse.Ours{Has: func(o metav1.Object) bool { return o.GetName() != "theirs" }}
	informer := sparse.NewInformer(cluster, &corev1.Secret{}, 0, toolscache.Indexers{}, corev1.SchemeGroupVersion.WithKind("Secret"), ours)
	stop := make(chan struct{})
	defer close(stop)
	go informer.Run(stop)
	toolscache.WaitForCacheSync(stop, informer.HasSynced)

	_, exists, err := informer.GetIndexer().GetByKey("theirs")
	fmt.Println(exists, err)
	// Output:
	// true the cache keeps only the metadata of Secret theirs, which is not of the controllers that declare the kind: read it with the reader of FetchRemoteState or from the API server, or declare the kind with controller.Whole
}
