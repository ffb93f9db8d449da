// Package layers decides what counts when several places say something about one setting: the owner itself, its profile, the
// configuration of the cluster. Layers are given with the most specific first.
//
//	timeout := layers.First(
//		layers.Source[int]{Layer: "spec.timeout", Value: owner.Spec.Timeout},
//		layers.Source[int]{Layer: "the profile", Value: profile.Spec.Timeout},
//	).Or(30)
//
// # When to use which
//
//	one value, taken whole from one layer          First
//	maps such as annotations, merged by key        Maps
//	the env or the resources of a container        package layers/container
//	the pod template that users add to             package layers/podtemplate
//	the routing of an owner                        routing.Resolve, which is made of First and Maps
//	objects that are merged as JSON                package defaulting
//
// Nothing that is given is changed, and no function returns an error: every input has a meaning.
package layers
