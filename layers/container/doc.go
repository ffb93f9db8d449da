// Package container lays what several places say about a container over each other: its environment ([Env]) and its resources
// ([Resources]).
//
//	env := container.Env{JSON: []string{"ENGINE_ARGS"}}.Merge(owner.Spec.Env, profile.Spec.Env, defaults)
//	resources := container.Resources(owner.Spec.Resources, profile.Spec.Resources)
//
// As in package layers the most specific place is given first; nil and empty ones say nothing. Nothing that is given is changed, and
// the result shares no map or slice with it. No function returns an error: every input has a meaning.
package container
