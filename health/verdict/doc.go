// Package verdict is the language in which one part of a program tells another how something is: components, states, errors with a
// category.
//
// It is the part of package health that needs no API types, so that a package which only has to say "this is missing" or "this
// can never work" does not import those of every workload. Package health has all of these words under the same
// names, as aliases; a verdict.Component is a health.Component, and code that imports health has no need of this package.
//
// A [Component] is one part of an owner. It has a [State], or errors from which the state follows, or both:
//
//	verdict.Component{Name: "Database", Dependency: verdict.Upstream, Errors: []error{err}}
//
// An error gets its category where it is made ([NewError], or a type that is [Classified]), or where it is read: [Categorize]
// knows the answers of the API server, contexts and the network.
//
// # Categories
//
// What a category means for its component, for applying and for trying again; see [Category.State], [Category.Blocks],
// [Category.Retries] and [Category.Terminal]:
//
//	category                     state        blocks applying  tried again  only a change elsewhere solves it
//	InvalidSpec                  Failed       yes              no           yes
//	MissingUpstreamDependency    Degraded     yes              no           no: a watch tells when it appears
//	MissingDownstreamDependency  Progressing  no               no           no: a watch tells when it appears
//	Auth                         Failed       yes              no           yes
//	ResourceExhaustion           Failed       no               no           yes
//	Infrastructure               Degraded     yes              yes          no
//	Conflict                     Degraded     no               yes          no
//	ProgramError                 Failed       yes              no           yes
//	Unknown                      Degraded     yes              yes          no
//
// A category is added to what was said, it never replaces it: the message that [Categorize] gives is the text of the error,
// with credentials taken out ([conditions.Scrub]) and bounded ([conditions.Bound]).
//
// What components add up to for the whole owner (conditions, the grace period, one state) is the work of health.Assessor.
//
// [conditions.Scrub]: https://pkg.go.dev/github.com/reconcilekit/reconcilekit/conditions#Scrub
// [conditions.Bound]: https://pkg.go.dev/github.com/reconcilekit/reconcilekit/conditions#Bound
package verdict
