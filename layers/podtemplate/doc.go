// Package podtemplate composes the template of a pod of parts: what the operator needs in it, what the user adds, what an
// integration asks for.
//
//	template, err := podtemplate.Compose(base,
//		podtemplate.Part{From: "spec.pod", Containers: owner.Spec.Pod.SideCars, Volumes: owner.Spec.Pod.Volumes},
//		podtemplate.Part{From: "the CA bundle", Volumes: bundle, Mounts: map[string][]corev1.VolumeMount{"server": mount}},
//	)
//
// Everything goes by name. What may be set in several places, such as an environment variable, a label or a pull secret, appears
// once, and as in package layers the most specific part is given first and counts. What would silently become something else, such
// as two volumes of one name, two containers of one name, or two mounts at one path, is a [ConflictError] that names both places,
// unless the two are the same.
//
// The result depends on nothing but the arguments, keeps their order and shares no memory with them, so that it can be planned in
// every pass.
package podtemplate
