package main

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/check"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kserve "github.com/reconcilekit/reconcilekit/examples/modelmesh/api/kserve/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/kserve/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/etcd"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/predictor"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/runtimes"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/service"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/settings"
)

// place is a namespace other than the operator's, so that it gets its own Secret.
const place = "default"

// converge searches for faults of a controller in 10 sampled cases; RECONCILETEST_CASES=all runs all.
func converge(t *testing.T, env settings.Environment, s reconciletest.System) {
	t.Helper()
	s.Scheme = runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, v1alpha1.AddToScheme, kserve.AddToScheme, v1beta1.AddToScheme} {
		if err := add(s.Scheme); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	s.Cache, err = controller.CacheOptions(
		s.Scheme, controllers(env, &mmesh.Connections{}, etcd.NewEvents(env.Namespace, env.Cluster), &predictor.Namespaces{})...,
	)
	if err != nil {
		t.Fatal(err)
	}
	s.Given = append(s.Given, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: env.Namespace, Name: env.EtcdSecret},
		Data:       map[string][]byte{"etcd_connection": []byte(`{"endpoints":"http://etcd:2379","root_prefix":"root"}`)},
	})
	s.CRDPaths, s.Cases = []string{"config/crd", "config/foreign"}, 10
	s.Accepted = append(s.Accepted, []reconciletest.Acceptance{
		{
			About: "other controllers are slow", Check: check.Deletes,
			Reason: "objects of a deleted owner are deleted by the garbage collector or the operator, depending on timing",
		},
		{
			About:  "get configmaps " + env.Namespace + "/" + settings.ConfigMap,
			Reason: "an operator with unreadable settings does not start",
		},
	}...)
	reconciletest.Converge(t, s)
}

// TestRuntimesConverge checks that a namespace gets what its runtimes need despite failing requests, restarts and edits.
func TestRuntimesConverge(t *testing.T) {
	t.Parallel()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: place, Labels: map[string]string{"modelmesh-enabled": "true"}}}
	env := settings.FromEnvironment(lookup(map[string]string{"NAMESPACE": "operators"}))
	model := &v1alpha1.Predictor{ObjectMeta: metav1.ObjectMeta{Namespace: place, Name: "model"}}
	model.Spec.ModelType.Name = "onnx"
	converge(t, env, reconciletest.System{
		Setup: func(mgr ctrl.Manager) error {
			return runtimes.New(env, settings.NewLive(env.Namespace)).SetupWithManager(mgr)
		},
		Owners: []client.Object{servingRuntime("triton", "onnx"), servingRuntime("mlserver", "sklearn")},
		Change: func(o client.Object) { o.(*kserve.ServingRuntime).Spec.Disabled = new(true) },
		Given:  []client.Object{namespace, model},
	})
}

// servingRuntime returns a runtime for a model format, with an autoscaler.
func servingRuntime(name, format string) client.Object {
	return &kserve.ServingRuntime{
		ObjectMeta: metav1.ObjectMeta{Namespace: place, Name: name, Annotations: map[string]string{"serving.kserve.io/autoscalerClass": "hpa"}},
		Spec: kserve.ServingRuntimeSpec{
			MultiModel: new(true), GRPCEndpoint: new("port:8085"),
			SupportedModelFormats: []kserve.SupportedModelFormat{{Name: format, AutoSelect: new(true)}},
			ServingRuntimePodSpec: kserve.ServingRuntimePodSpec{Containers: []corev1.Container{{Name: "server", Image: "server:1"}}},
		},
	}
}

// TestServiceConverges checks the same for the Service of an operator that manages only its own namespace.
func TestServiceConverges(t *testing.T) {
	t.Parallel()
	env := settings.FromEnvironment(lookup(map[string]string{"NAMESPACE": place, "NAMESPACE_SCOPE": "true"}))
	labels := map[string]string{"control-plane": "modelmesh-controller"}
	operator := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: place, Name: env.Deployment}}
	operator.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	operator.Spec.Template.Labels = labels
	operator.Spec.Template.Spec.Containers = []corev1.Container{{Name: "manager", Image: "manager:1"}}
	converge(t, env, reconciletest.System{
		Setup: func(mgr ctrl.Manager) error {
			return service.New(env, settings.NewLive(env.Namespace), nil, nil).SetupWithManager(mgr)
		},
		Owners: []client.Object{operator},
	})
}
