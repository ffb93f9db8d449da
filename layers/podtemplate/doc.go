// Package podtemplate composes a pod template from parts: those of the operator, of the user and of integrations.
//
//	template, err := podtemplate.Compose(base,
//		podtemplate.Part{From: "spec.pod", Containers: owner.Spec.Pod.SideCars, Volumes: owner.Spec.Pod.Volumes},
//		podtemplate.Part{From: "the CA bundle", Volumes: bundle, Mounts: map[string][]corev1.VolumeMount{"server": mount}},
//	)
//
// Items are merged by name. Environment variables, labels and pull secrets may be set by several parts; pass the most specific part
// first, it wins. Two different volumes or containers of one name, or two different mounts at one path, are a [ConflictError] that names
// both parts.
//
// The result depends only on the arguments, keeps their order and shares no memory with them.
package podtemplate
