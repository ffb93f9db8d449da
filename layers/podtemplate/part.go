package podtemplate

import (
	corev1 "k8s.io/api/core/v1"
)

// base is the name of the template in errors.
const base = "the template"

// Part is an addition to a pod template. Nil and empty fields add nothing.
type Part struct {
	// From names the part in errors, such as "spec.pod". Required.
	From string
	// Labels and Annotations of the pod. The most specific part that sets a key wins; the base is the least specific. Put labels that a
	// selector needs into the most specific part.
	Labels, Annotations map[string]string
	// InitContainers and Containers are appended. A name must be unique among both.
	InitContainers, Containers []corev1.Container
	// Env maps container names to variables. The container may come from another part. Variables are merged by name as [container.Env] does:
	// existing variables keep their position, because a value may refer to the variables before it.
	Env map[string][]corev1.EnvVar
	// Mounts maps container names to mounts. The container may come from another part. A path is mounted once.
	Mounts map[string][]corev1.VolumeMount
	// Volumes are volumes of the pod.
	Volumes []corev1.Volume
	// PullSecrets are the Secrets for pulling images, without duplicates.
	PullSecrets []corev1.LocalObjectReference
}
