// Package health models the health of an owner's components and aggregates it into conditions, one state and the decision whether to
// apply.
//
// A [Component] is one part: an upstream dependency, a child, the owner's own configuration. It has a [State], or errors whose [Category]
// determines the state, or both:
//
//	health.Component{Name: "Database", Dependency: health.Upstream, Errors: []error{err}}
//
// Package health/inspect assesses Kubernetes objects. An [Assessor] aggregates the components of one reconciliation into conditions and
// an [Assessment]. Controllers of package reconcile do that with the components of GetComponentHealth.
//
// # When to use which
//
//	a ready or progressing part                  Component with State, Reason and Message
//	a part with an error                         Component with Errors
//	an error of a known category                 NewError; or implement Classified, without importing this package
//	an error of an unknown category              Categorize
//	the decision whether to apply                Blocking
//	conditions and summary without the pipeline  NewAssessor, Observe, Summarize
//
// # States
//
// From best to worst: [Ready], [Progressing], [Starting], [Pending], [Degraded], [NotAvailable], [Failed]. A component without state and
// without errors is Ready.
//
// # Categories
//
//	category                     state of the component  condition that turns False   blocks apply  tried again
//	InvalidSpec                  Failed                  ConfigValid                  yes           when the owner changes
//	MissingUpstreamDependency    Degraded                ConfigValid                  yes           when it appears (a watch)
//	MissingDownstreamDependency  Progressing             -                            no            when it appears (a watch)
//	Auth                         Failed                  AuthValid                    yes           when something changes
//	ResourceExhaustion           Failed                  -                            no            when something changes
//	Infrastructure               Degraded after grace    DependenciesReachable        yes           with backoff
//	Conflict                     Degraded                -                            no            with backoff
//	ProgramError                 Failed                  -                            yes           when something changes
//	Unknown                      Degraded                DependenciesReachable        yes           with backoff
//
// [Blocking] decides which errors stop the apply. An inspector's findings about a child never do, because the apply may fix the child. A
// category never replaces the text of an error: the message of [Categorize] is that text without credentials, at most 1024 bytes.
//
// # Conditions
//
// Every component gets `<Name>Ready`. DependenciesReachable, AuthValid and ConfigValid appear with the first error of their kind and
// become True when it is resolved. The summary Ready is True only if every component is ready and every other condition set in this
// reconciliation whose type ends in Ready is True. Their reasons:
//
//	condition              True                    False
//	Ready                  AllComponentsReady      ProgramError, AuthError, InvalidSpec, ReferenceNotFound, InfrastructureError,
//	                                               Progressing, or that of the failing component
//	DependenciesReachable  Reachable               InfrastructureError
//	AuthValid              AuthenticationValid     AuthError
//	ConfigValid            ConfigurationValid      InvalidSpec, ReferenceNotFound
//
// If a component without a name has the error, its reason replaces InvalidSpec. The message of Progressing names the first three components.
package health
