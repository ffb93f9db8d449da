// Package health says how the parts of an owner are, and turns that into conditions, one state and a decision.
//
// A [Component] is one part: an upstream dependency, a child, the owner's own configuration. It has a [State], or errors of a
// [Category] from which the state follows, or both. Inspectors read a component from a Kubernetes object ([Of],
// [Deployment], [Pods], ...); an [Assessor] folds the components of a pass into conditions and an [Assessment].
//
//	m := conditions.NewManager(obj.Status.Conditions, obj.Generation, now)
//	a := health.NewAssessor(m, health.Options{Now: now})
//	server := health.Deployment(deployment)
//	server.Name, server.Dependency, server.Child = "Server", health.Downstream, true
//	a.Observe(server)
//	assessment := a.Summarize()
//
// Components, states, categories and errors are those of package [verdict], which does without API types, so that packages that only
// speak of health can use it. They have the same names here, and code that imports health needs no other.
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
//
// # Conditions
//
// Every component gets `<Name>Ready`. DependenciesReachable, AuthValid and ConfigValid appear with the first trouble of their kind
// and stay, turning True again when it is gone. The summary Ready is True only if every component is, and every other condition
// set in the pass whose type ends in Ready.
//
// [verdict]: https://pkg.go.dev/github.com/reconcilekit/reconcilekit/health/verdict
package health
