package main

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	v1 "github.com/reconcilekit/reconcilekit/examples/quickstart/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// apiServer starts an API server, which is stopped when the test ends.
func apiServer(t *testing.T, known *runtime.Scheme, crds ...string) (*rest.Config, client.Client) {
	t.Helper()
	const soon = time.Minute
	api := &envtest.Environment{CRDDirectoryPaths: crds, ControlPlaneStartTimeout: soon, ControlPlaneStopTimeout: soon}
	api.UseExistingCluster = new(false)
	api.ControlPlane.GetAPIServer().Configure().Set("advertise-address", "127.0.0.1").Set("endpoint-reconciler-type", "none")
	config, err := api.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := api.Stop(); err != nil {
			t.Error(err)
		}
	})
	c, err := client.New(config, client.Options{Scheme: known})
	if err != nil {
		t.Fatal(err)
	}
	return config, c
}

// start runs the operator until stop is called or the test ends.
func start(t *testing.T, hub, member *rest.Config) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	options := manager.Options{Metrics: server.Options{BindAddress: "0"}}
	options.Controller.SkipNameValidation = new(true) // several operators run in this process, one after the other
	mgr, err := newManager(ctx, hub, member, options)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the operator returned %v", err)
		}
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out after a minute: %s", what)
		}
	}
}

// TestTwoClusters checks that the children of a Website in the hub are created, repaired and pruned in the member, that
// a restarted operator prunes what its predecessor left, and that the children are deleted before the Website.
func TestTwoClusters(t *testing.T) {
	log.SetLogger(logr.Discard())
	known := runtime.NewScheme()
	if err := scheme.AddToScheme(known); err != nil {
		t.Fatal(err)
	}
	if err := v1.AddToScheme(known); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	hubConfig, hub := apiServer(t, known, "../quickstart/config/crd")
	memberConfig, member := apiServer(t, known)
	stop := start(t, hubConfig, memberConfig)

	site := &v1.Website{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "hello"}, Spec: v1.WebsiteSpec{Text: "hello"}}
	if err := hub.Create(ctx, site); err != nil {
		t.Fatal(err)
	}
	key := client.ObjectKeyFromObject(site)
	text := func() string {
		found := &corev1.ConfigMap{}
		if err := client.IgnoreNotFound(member.Get(ctx, key, found)); err != nil {
			t.Fatal(err)
		}
		return found.Data["index.html"]
	}
	gone := func(c client.Client, object client.Object) bool { return apierrors.IsNotFound(c.Get(ctx, key, object)) }
	deployment := &appsv1.Deployment{}
	eventually(t, "the member has the Deployment", func() bool { return member.Get(ctx, key, deployment) == nil })
	eventually(t, "the member has the text", func() bool { return text() == "hello" })
	if !gone(hub, &appsv1.Deployment{}) || !gone(hub, &corev1.ConfigMap{}) {
		t.Error("the hub has children")
	}
	if len(deployment.OwnerReferences) > 0 {
		t.Errorf("the garbage collector of the member would delete %v: its owner is not there", deployment.OwnerReferences)
	}

	deployment.Status = appsv1.DeploymentStatus{ // as the controllers of a cluster would write it
		ObservedGeneration: deployment.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
	}
	if err := member.Status().Update(ctx, deployment); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Website is ready when its Deployment in the member is", func() bool {
		return hub.Get(ctx, key, site) == nil && meta.IsStatusConditionTrue(site.Status.Conditions, "Ready")
	})

	if err := member.Patch(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}},
		client.RawPatch(types.MergePatchType, []byte(`{"data":{"index.html":"edited"}}`))); err != nil {
		t.Fatal(err)
	}
	eventually(t, "an edit in the member is reverted", func() bool { return text() == "hello" })

	stop()
	if err := hub.Patch(ctx, site, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"text":"bye","replicas":0}}`))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(start(t, hubConfig, memberConfig))
	eventually(t, "the text changes", func() bool { return text() == "bye" })
	eventually(t, "the Deployment of the previous process is pruned", func() bool { return gone(member, &appsv1.Deployment{}) })

	if err := hub.Delete(ctx, site); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Website is deleted", func() bool { return gone(hub, &v1.Website{}) })
	if !gone(member, &corev1.ConfigMap{}) {
		t.Error("the Website was deleted before its ConfigMap")
	}
}
