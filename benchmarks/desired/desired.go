// Package desired returns the desired children of an owner, for all subjects of the benchmark.
package desired

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/benchmarks/widget"
)

// OwnerLabel is the label of every child with the name of its owner. The harness uses it to find orphans.
const OwnerLabel = "benchmark.reconcilekit.dev/owner"

// Kinds returns empty objects of the children's kinds, in the order of their rotation.
func Kinds() []client.Object {
	out := make([]client.Object, 0, kinds)
	for i := range kinds {
		out = append(out, Kind(i))
	}
	return out
}

const kinds = 5

// Kind returns an empty object of the kind of child number i.
func Kind(i int) client.Object {
	switch i % kinds {
	case 0:
		return &appsv1.Deployment{}
	case 1:
		return &corev1.Service{}
	case 2:
		return &corev1.ConfigMap{}
	case 3:
		return &corev1.ServiceAccount{}
	}
	return &corev1.Secret{}
}

// Children returns the desired children of the owner, with TypeMeta and without owner references. They omit defaults as users do: a
// Service port has no protocol, a fieldRef no apiVersion.
func Children(owner *widget.Widget) []client.Object {
	makers := []func(metav1.ObjectMeta, *widget.Widget) client.Object{deployment, service, configMap, serviceAccount, secret}
	out := make([]client.Object, 0, owner.Spec.Count)
	for i := range owner.Spec.Count {
		meta := metav1.ObjectMeta{
			Namespace: owner.Namespace,
			Name:      ChildName(owner, i),
			Labels: map[string]string{
				OwnerLabel:                     owner.Name,
				"app.kubernetes.io/name":       "widget",
				"app.kubernetes.io/component":  "part-" + strconv.Itoa(i),
				"app.kubernetes.io/managed-by": "benchmark",
			},
		}
		out = append(out, makers[i%len(makers)](meta, owner))
	}
	return out
}

// ChildName returns the name of the owner's child number i.
func ChildName(owner *widget.Widget, i int) string { return owner.Name + "-" + strconv.Itoa(i) }

func deployment(meta metav1.ObjectMeta, owner *widget.Widget) client.Object {
	replicas := int32(2)
	selector := map[string]string{"app.kubernetes.io/component": meta.Labels["app.kubernetes.io/component"], OwnerLabel: owner.Name}
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: meta,
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: selector},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: selector},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{container(owner)}},
			},
		},
	}
}

func container(owner *widget.Widget) corev1.Container {
	return corev1.Container{
		Name:  "main",
		Image: owner.Spec.Image,
		Args:  []string{"serve", "--listen=:8080"},
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
		Env: []corev1.EnvVar{
			{Name: "WIDGET", Value: owner.Name},
			{Name: "NODE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}},
		},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128Mi")},
		},
		ReadinessProbe: &corev1.Probe{
			ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromString("http")}},
		},
	}
}

func service(meta metav1.ObjectMeta, owner *widget.Widget) client.Object {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: meta,
		Spec: corev1.ServiceSpec{
			// headless, so that large runs do not exhaust the address range of the services
			ClusterIP: corev1.ClusterIPNone,
			Selector:  map[string]string{OwnerLabel: owner.Name},
			Ports:     []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromString("http")}},
		},
	}
}

func configMap(meta metav1.ObjectMeta, owner *widget.Widget) client.Object {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: meta,
		Data:       map[string]string{"image": owner.Spec.Image, "config.yaml": "listen: 8080\nlogLevel: info\n"},
	}
}

func serviceAccount(meta metav1.ObjectMeta, _ *widget.Widget) client.Object {
	return &corev1.ServiceAccount{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta: meta,
	}
}

func secret(meta metav1.ObjectMeta, owner *widget.Widget) client.Object {
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: meta,
		Type:       corev1.SecretTypeOpaque,
		Data:       map[string][]byte{"token": []byte("token of " + owner.Name)},
	}
}
