// Package layers resolves a setting that several layers may set, such as the owner, its profile and the configuration of the cluster.
// Pass the most specific layer first.
//
//	timeout := layers.First(
//		layers.Source[int]{Layer: "spec.timeout", Value: owner.Spec.Timeout},
//		layers.Source[int]{Layer: "the profile", Value: profile.Spec.Timeout},
//	).Or(30)
//
// # When to use which
//
//	one value, from one layer                      First
//	maps such as annotations, merged by key        Maps
//	the env or the resources of a container        package layers/container
//	the pod template that users add to             package layers/podtemplate
//	the routing of an owner                        routing.Resolve
//	objects that are merged as JSON                package defaulting
//
// The functions do not modify their arguments and return no errors.
package layers
