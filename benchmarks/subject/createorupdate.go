package subject

import (
	"context"
	"errors"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/benchmarks/widget"
)

// newCreateOrUpdate returns a careful hand-written reconciler: its mutate functions set the desired fields on the live object and keep
// the server's defaults.
func newCreateOrUpdate(env Environment) (reconcile.Reconciler, error) {
	c := env.Client
	apply := func(ctx context.Context, owner *widget.Widget, children []client.Object) error {
		var errs []error
		for _, want := range children {
			live, mutate, err := mutation(want)
			if err != nil {
				return err
			}
			_, err = controllerutil.CreateOrUpdate(ctx, c, live, func() error {
				live.SetLabels(merged(live.GetLabels(), want.GetLabels()))
				mutate()
				return controllerutil.SetControllerReference(owner, live, c.Scheme())
			})
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", want.GetName(), err))
			}
		}
		return errors.Join(errs...)
	}
	return &reconciler{reader: c, apply: apply, status: updateStatus(c)}, nil
}

// mutation returns an empty object to read into, and the function that changes the read object to the desired one.
func mutation(want client.Object) (live client.Object, mutate func(), err error) {
	switch want := want.(type) {
	case *appsv1.Deployment:
		live := &appsv1.Deployment{}
		live.Name, live.Namespace = want.Name, want.Namespace
		return live, func() { mutateDeployment(live, want) }, nil
	case *corev1.Service:
		live := &corev1.Service{}
		live.Name, live.Namespace = want.Name, want.Namespace
		return live, func() { mutateService(live, want) }, nil
	case *corev1.ConfigMap:
		live := &corev1.ConfigMap{}
		live.Name, live.Namespace = want.Name, want.Namespace
		return live, func() { live.Data = want.Data }, nil
	case *corev1.ServiceAccount:
		live := &corev1.ServiceAccount{}
		live.Name, live.Namespace = want.Name, want.Namespace
		return live, func() {}, nil
	case *corev1.Secret:
		live := &corev1.Secret{}
		live.Name, live.Namespace = want.Name, want.Namespace
		return live, func() { live.Type, live.Data = want.Type, want.Data }, nil
	}
	return nil, nil, fmt.Errorf("no mutate function for %T", want)
}

func mutateDeployment(live, want *appsv1.Deployment) {
	live.Spec.Replicas = want.Spec.Replicas
	if live.Spec.Selector == nil {
		live.Spec.Selector = want.Spec.Selector
	}
	live.Spec.Template.Labels = merged(live.Spec.Template.Labels, want.Spec.Template.Labels)
	if len(live.Spec.Template.Spec.Containers) != len(want.Spec.Template.Spec.Containers) {
		live.Spec.Template.Spec.Containers = want.Spec.Template.Spec.Containers
		return
	}
	for i := range want.Spec.Template.Spec.Containers {
		mutateContainer(&live.Spec.Template.Spec.Containers[i], &want.Spec.Template.Spec.Containers[i])
	}
}

func mutateContainer(live, want *corev1.Container) {
	live.Name, live.Image, live.Args = want.Name, want.Image, want.Args
	if !equality.Semantic.DeepEqual(live.Resources, want.Resources) {
		live.Resources = want.Resources
	}
	if len(live.Ports) != len(want.Ports) {
		live.Ports = want.Ports
	}
	for i := range want.Ports {
		live.Ports[i].Name, live.Ports[i].ContainerPort = want.Ports[i].Name, want.Ports[i].ContainerPort
	}
	mutateEnv(live, want)
	if live.ReadinessProbe == nil || live.ReadinessProbe.HTTPGet == nil {
		live.ReadinessProbe = want.ReadinessProbe
		return
	}
	live.ReadinessProbe.HTTPGet.Path = want.ReadinessProbe.HTTPGet.Path
	live.ReadinessProbe.HTTPGet.Port = want.ReadinessProbe.HTTPGet.Port
}

func mutateEnv(live, want *corev1.Container) {
	if len(live.Env) != len(want.Env) {
		live.Env = want.Env
		return
	}
	for i := range want.Env {
		l, w := &live.Env[i], &want.Env[i]
		l.Name, l.Value = w.Name, w.Value
		if w.ValueFrom == nil || l.ValueFrom == nil || l.ValueFrom.FieldRef == nil {
			l.ValueFrom = w.ValueFrom
			continue
		}
		l.ValueFrom.FieldRef.FieldPath = w.ValueFrom.FieldRef.FieldPath
	}
}

func mutateService(live, want *corev1.Service) {
	live.Spec.Selector = want.Spec.Selector
	if live.Spec.ClusterIP == "" {
		live.Spec.ClusterIP = want.Spec.ClusterIP
	}
	if len(live.Spec.Ports) != len(want.Spec.Ports) {
		live.Spec.Ports = want.Spec.Ports
		return
	}
	for i := range want.Spec.Ports {
		l, w := &live.Spec.Ports[i], &want.Spec.Ports[i]
		l.Name, l.Port, l.TargetPort = w.Name, w.Port, w.TargetPort
	}
}

func merged(live, want map[string]string) map[string]string {
	if live == nil {
		return want
	}
	maps.Copy(live, want)
	return live
}
