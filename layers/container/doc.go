// Package container merges layers of a container's environment ([Env]) and resources ([Resources]).
//
//	env := container.Env{JSON: []string{"ENGINE_ARGS"}}.Merge(owner.Spec.Env, profile.Spec.Env, defaults)
//	resources := container.Resources(owner.Spec.Resources, profile.Spec.Resources)
//
// Pass the most specific layer first, as in package layers. Nil and empty layers are ignored. The functions do not modify their
// arguments, and the results share no map or slice with them. No function returns an error.
package container
