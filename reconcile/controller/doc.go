// Package controller puts a reconciler into a controller-runtime manager and describes what it does there.
//
// A controller is declared once, with the kinds that it owns and reads:
//
//	err := controller.New("quickstart", &Reconciler{}).
//		Owns(&appsv1.Deployment{}).
//		Owns(&gatewayv1.HTTPRoute{}, controller.Optional).
//		Reads(&corev1.Secret{}, controller.Filter(ours)).
//		Build().
//		SetupWithManager(mgr)
//
// Three verbs say what the plan and the reads do with a kind: [Builder.Owns], [Builder.Reads] and [Builder.Writes]; what the kind
// is stands beside it as a [KindOption].
//
// Its phases are found by their interfaces (reconcile.Reconciler names them); one that does not fit is an error here.
// From the declarations come the watches, the check of every read and write, the page that [Controller.Describe] prints
// and the least rights.
//
// # Reads have watches
//
// FetchRemoteState reads through a tracked reader. Each read by name and each list by selector is remembered for its
// owner before it happens, also when nothing was found. An event of a declared kind enqueues the owners whose reads it
// concerns, each once: those that read the object by name, and those with a list that the object is in or has just left.
// No mapping function is written by hand; [Builder.Watches] is there for what no read expresses. What is remembered is
// replaced by every pass and dropped with the owner; after a restart the first pass of each owner builds it anew.
//
// A tracked read of an object that nobody else reads takes about 200 bytes, one of a shared object about 90; a pass that
// reads the same things as the one before allocates one small session and no entry. Finding the owners of an event takes
// as long with ten thousand selectors as with ten, as long as they ask for a label or for a value of a field; the function
// of [Index] runs once for the object before and once for it after.
//
// A read of a kind that was not declared fails with an [UndeclaredError], which names the line to add; so does a plan
// with a child of such a kind. Lists come sorted by namespace and name.
//
// # Representations and filters
//
// The cache keeps a declared kind in one representation: that of the object given to the builder, which is typed,
// unstructured, or metadata only ([Metadata]). Reads may ask for another one and are served by conversion, except for
// content from a cache of metadata. Metadata only is the cheap way to learn that something exists: the informer of all
// Secrets of a cluster costs their size, of their metadata some hundred bytes each. [Filter] with [CacheOptions]
// keeps only the objects that options of a list select; others are not found. Of Secrets and ConfigMaps it keeps whole the children and
// what is read, and of all others what identifies them and wakes owners: [Whole] and [OthersAsMetadata] say otherwise. The package reconcile/operator, which is the process
// around the controllers, installs these options by itself.
//
// # Optional kinds
//
// A kind whose CRD may be missing is declared as [Optional]. It appears and goes without a restart.
//
// # Many owners, one child
//
// Some children belong to no single owner: a policy of a model is made of all subscriptions to it, which come from several
// namespaces. [NewGroup] declares a controller whose owner is a [Group], a key and no object:
//
//	limits := controller.NewGroup("limits", &Limits{}).
//		Members(&Subscription{}, modelsOf). // which groups an object belongs to
//		Owns(&RateLimitPolicy{}).
//		Build()
//	subscriptions := controller.New("subscriptions", &Subscriptions{}).Joins(limits).Build()
//
// A pass of a group lists its members with [FetchMembers], sorted, and plans the children once. It runs when a member
// appears, changes, leaves or goes, when anything else that it read does, and when a child changes. The children carry
// the label of their set and an annotation with the key, so that after a restart a child leads to its group although all
// members are gone. When the last member leaves, the plan is empty, which prunes the children, in whatever order events
// come: no member needs a finalizer for it. A member that is to stay until its part is withdrawn implements
// reconcile.Finalizer and waits there until [Group.Effect] is EffectNone.
//
// What a pass of a group found is its status, kept in memory: the members that took part, who was refused and why, and
// conditions with what kept the children from being made. The controllers of the members read it with [GroupOf] like
// any object and are woken when it changes; a pass that asks before the first pass of the group is deferred, so that a
// restart changes no status.
//
// # No owner at all
//
// Something that there is once in a cluster and that no object asks for, such as a server that the operator's environment
// switches on, is a singleton: [NewSingleton] declares a controller with one owner, a [Group] of the controller's name.
// Its first pass runs at the start, the others are woken by what it reads and plans; objects that offer themselves to it by
// a label are read with reconcile.Discover. Its inventory are the labels of its children: see there for what that means.
//
// # Read-your-writes
//
// A pass is deferred, not blocked, while the cache does not show what the pass before has written, at most for
// apply.Options.LagDeadline, which is also when the engine stops waiting for it and reads live. This holds for every declared kind in any representation and behind any selector. The engine's
// own requests opt out of the client option EnableReadYourWritesConsistency, which may be switched on for other code of
// the process; it blocks instead and has no deadline for objects outside a cache selector.
package controller
