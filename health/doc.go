// Package health has the words in which an operator reports how the parts of an owner are, and turns them into conditions, one state and
// a decision.
//
// A [Component] is one part: an upstream dependency, a child, the owner's own configuration. It has a [State], or errors of a
// [Category] from which the state follows, or both:
//
//	health.Component{Name: "Database", Dependency: health.Upstream, Errors: []error{err}}
//
// Package health/inspect reads components from Kubernetes objects. An [Assessor] folds the components of a pass into conditions
// and an [Assessment]; in a controller of package reconcile the pipeline does that with the components of GetComponentHealth.
//
// # When to use which
//
//	a part that is fine, or on its way           Component with State, Reason and Message
//	a part of which an error is known            Component with Errors
//	an error whose category the code knows       NewError; or a type that is Classified, without importing this package
//	an error of which only the text is known     Categorize
//	may the plan be applied                      Blocking
//	conditions and summary without the pipeline  NewAssessor, Observe, Summarize
//
// # States
//
// From best to worst: [Ready], [Progressing], [Starting], [Pending], [Degraded], [NotAvailable], [Failed]. A component without state
// and without errors is Ready.
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
// [Blocking] holds the rule about applying: what an inspector found wrong with a child never blocks, or the fix could not reach it.
// A category is added to what was said, it never replaces it: the message that [Categorize] gives is the text of the error, with
// credentials taken out and bounded to 1024 bytes.
//
// # Conditions
//
// Every component gets `<Name>Ready`. DependenciesReachable, AuthValid and ConfigValid appear with the first error of their kind
// and stay, turning True again when it is gone. The summary Ready is True only if every component is, and every other condition
// set in the pass whose type ends in Ready. Their reasons:
//
//	condition              True                    False
//	Ready                  AllComponentsReady      ProgramError, AuthError, InvalidSpec, ReferenceNotFound, InfrastructureError,
//	                                               Progressing, or that of the failing component
//	DependenciesReachable  Reachable               InfrastructureError
//	AuthValid              AuthenticationValid     AuthError
//	ConfigValid            ConfigurationValid      InvalidSpec, ReferenceNotFound
//
// Where a component without a name has the error, its own reason stands in the place of InvalidSpec.
package health
