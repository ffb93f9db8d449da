package podtemplate

import (
	corev1 "k8s.io/api/core/v1"
)

// base is the name of the template in errors.
const base = "the template"

// Part is what one place adds to the template of a pod. Nil and empty fields add nothing.
type Part struct {
	// From names the place in errors, such as "spec.pod". Required.
	From string
	// Labels and Annotations are those of the pod. Of a key that several places set the most specific value counts, and that
	// of the base last. What a selector needs belongs into the most specific part.
	Labels, Annotations map[string]string
	// InitContainers and Containers come behind those that are there. A name is taken once among both.
	InitContainers, Containers []corev1.Container
	// Env are variables of containers by the container's name, also of those that another part adds. They are merged by name as
	// [container.Env] does: what is there keeps its place, because a value may refer to the variables before it.
	Env map[string][]corev1.EnvVar
	// Mounts are mounts of containers by the container's name, also of those that another part adds. A path is mounted once.
	Mounts map[string][]corev1.VolumeMount
	// Volumes are volumes of the pod.
	Volumes []corev1.Volume
	// PullSecrets are the Secrets for pulling images, each once.
	PullSecrets []corev1.LocalObjectReference
}
