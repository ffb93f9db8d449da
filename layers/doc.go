// Package layers lays settings of several places over each other, as the owner's own over those of a profile over those of
// the cluster: the env of a container ([Env]), its resources ([Resources]), and labels that are handed down ([Labels]).
//
//	env := layers.Env{JSON: []string{"ENGINE_ARGS"}}.Merge(owner.Spec.Env, profile.Spec.Env, defaults)
//	resources := layers.Resources(owner.Spec.Resources, profile.Spec.Resources)
//
// Layers are given with the most specific first, as in package routing. Nil and empty layers say nothing. Nothing that is
// given is changed, and the result shares no map or slice with it. No function returns an error: every input has a
// meaning.
package layers
