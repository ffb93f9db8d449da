// Command standin simulates two programs for the demo. It marks every Route as admitted, like the router of OpenShift, and routes
// nothing. It also adds a function of a kubelet that kwok lacks: a container whose variables come from a Secret waits for the
// Secret.
//
// Never run it in a cluster with the real programs.
package main

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/internal/standin"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/openshift"
)

func main() {
	addToScheme := func(s *runtime.Scheme) error { return errors.Join(openshift.AddToScheme(s), corev1.AddToScheme(s)) }
	standin.Main(addToScheme, func(ctx context.Context, c client.Client) error {
		return errors.Join(admit(ctx, c), holdPods(ctx, c))
	})
}

// admit marks every Route as admitted.
func admit(ctx context.Context, c client.Client) error {
	var routes openshift.RouteList
	if err := c.List(ctx, &routes); err != nil {
		return err
	}
	var errs []error
	for i := range routes.Items {
		route := &routes.Items[i]
		if admitted, _ := route.Admitted(); admitted {
			continue
		}
		before := client.MergeFrom(route.DeepCopy())
		route.Status.Ingress = []openshift.RouteIngress{{
			Host: route.Spec.Host, Conditions: []openshift.RouteCondition{{Type: "Admitted", Status: corev1.ConditionTrue}},
		}}
		errs = append(errs, client.IgnoreNotFound(c.Status().Patch(ctx, route, before)))
	}
	return errors.Join(errs...)
}

// waits is the reason of a container that waits for a Secret.
const waits = "CreateContainerConfigError"

// holdPods sets containers to waiting whose Secrets are missing, and to running when the Secrets exist.
func holdPods(ctx context.Context, c client.Client) error {
	var pods corev1.PodList
	if err := c.List(ctx, &pods); err != nil {
		return err
	}
	var errs []error
	for i := range pods.Items {
		errs = append(errs, holdPod(ctx, c, &pods.Items[i]))
	}
	return errors.Join(errs...)
}

// holdPod patches the status of a pod that kwok has started.
func holdPod(ctx context.Context, c client.Client, pod *corev1.Pod) error {
	if pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil {
		return nil
	}
	before, ready, changed := pod.DeepCopy(), corev1.ConditionTrue, false
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		missing, err := missingSecret(ctx, c, pod, status.Name)
		if err != nil {
			return err
		}
		waiting := status.State.Waiting != nil && status.State.Waiting.Reason == waits
		if missing != "" {
			ready = corev1.ConditionFalse
		}
		switch {
		case missing != "" && !waiting:
			status.Ready, status.State = false, corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: waits, Message: "secret \"" + missing + "\" not found"},
			}
			changed = true
		case missing == "" && waiting:
			status.Ready, status.State = true, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
			changed = true
		}
	}
	if !changed {
		return nil
	}
	for i := range pod.Status.Conditions {
		condition := &pod.Status.Conditions[i]
		if condition.Type == corev1.PodReady || condition.Type == corev1.ContainersReady {
			condition.Status, condition.LastTransitionTime = ready, metav1.Now()
		}
	}
	return client.IgnoreNotFound(c.Status().Patch(ctx, pod, client.MergeFrom(before)))
}

// missingSecret returns the first missing Secret that a variable of the container refers to, or the empty string.
func missingSecret(ctx context.Context, c client.Client, pod *corev1.Pod, container string) (string, error) {
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name != container {
			continue
		}
		for _, variable := range pod.Spec.Containers[i].Env {
			if variable.ValueFrom == nil || variable.ValueFrom.SecretKeyRef == nil {
				continue
			}
			name := variable.ValueFrom.SecretKeyRef.Name
			if err := c.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: name}, &corev1.Secret{}); apierrors.IsNotFound(err) {
				return name, nil
			} else if err != nil {
				return "", err
			}
		}
	}
	return "", nil
}
