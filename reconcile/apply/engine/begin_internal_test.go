package engine

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// begin starts a pass over the owner "shop" in namespace "default" of a fake API server that has the objects; they get a UID. The
// caller ends the pass. The error is that of a plan or an owner that the engine refuses.
func begin(ctx context.Context, plan *apply.Plan, objects ...client.Object) (*pass, error) {
	mapper := apimeta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), apimeta.RESTScopeNamespace)
	for _, o := range objects {
		o.SetUID("2")
	}
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "default", UID: "1"}}
	c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithRESTMapper(mapper).WithReturnManagedFields().
		WithObjects(append(objects, owner)...).Build()
	env := newEnv(c, c, apply.Options{
		FieldManager: "operator", Domain: apply.DefaultDomain, Finalizer: "example.com/operator", Clock: clock.RealClock{}, Concurrency: 1,
		LiveReads: 10, LagDeadline: time.Second, ContestInterval: time.Minute, PruneShare: 0.5, PruneMinimum: 3,
	})
	if err := c.Get(ctx, client.ObjectKeyFromObject(owner), owner); err != nil {
		return nil, err
	}
	return env.begin(ctx, owner, plan, memory.NewStore().Owner(owner))
}

// settings is an object that a plan may have.
func settings(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Data: map[string]string{"color": "green"}}
}
