// Package controller adds reconcilers to a controller-runtime manager and describes their reads and writes.
//
// To declare a controller, list the kinds that it owns and reads:
//
//	err := controller.New("quickstart", &Reconciler{}).
//		Owns(&appsv1.Deployment{}).
//		Owns(&gatewayv1.HTTPRoute{}, controller.Optional).
//		Reads(&corev1.Secret{}, controller.Filter(ours)).
//		Build().
//		SetupWithManager(mgr)
//
// Three methods declare how a controller uses a kind: [Builder.Owns], [Builder.Reads] and [Builder.Writes]. A [KindOption]
// describes the kind. FetchRemoteState may read every declared kind and that of the owners.
//
// Package reconcile/operator runs declared controllers as a program. With a manager of your own, create the manager with
// the options of [CacheOptions] and call [Controller.SetupWithManager]. The namespaces of the manager's cache are those
// that the controller watches.
//
// The set-up finds the phases by their interfaces, see reconcile.Reconciler; a method that does not match is an error. The
// watches, the check of every read and write, the page of [Controller.Describe] and the minimal RBAC follow from the
// declarations.
//
// # Reads have watches
//
// FetchRemoteState reads through a tracked reader, which records each read by name and each list by selector for its owner
// before the read, even if it finds nothing. An event of a declared kind enqueues each owner that read the object by name,
// or that has a list that contains the object or contained it before. No mapping function is needed; use [Builder.Watches]
// for relations that no read expresses. Every reconciliation replaces the records of its owner, and they are dropped with
// the owner. After a restart the first reconciliation of each owner records its reads again.
//
// A record of an object with one reader takes about 200 bytes, one of a shared object about 90. A reconciliation that
// repeats the reads of the last one allocates one small session and no record. Finding the owners of an event takes the
// same time with ten selectors and with ten thousand, if the selectors require a label or the value of a field. The
// function of [Index] runs once for the old object and once for the new one.
//
// A read of an undeclared kind fails with an [UndeclaredError], which contains the line to add, and so does a plan with a
// child of such a kind. Lists are sorted by namespace and name.
//
// # Representations and filters
//
// The cache stores a declared kind in one representation, that of the object given to the builder: typed, unstructured, or
// metadata only ([Metadata]). Reads may use another representation and are converted, except reads of a spec or status from
// a cache of metadata. Use metadata to check that objects exist: an informer of all Secrets of a cluster stores their
// content, one of their metadata some hundred bytes each. [Filter] with [CacheOptions] stores only the objects that list
// options select; others are not found. Of Secrets and ConfigMaps the cache stores children and read objects entirely, and
// of other objects only the metadata to identify them and to enqueue owners; [Whole] and [OthersAsMetadata] change this.
// Package reconcile/operator, which runs the controllers in a process, sets these options itself.
//
// # Optional kinds
//
// Declare a kind whose CRD may be missing as [Optional]. The CRD may be installed and removed without a restart.
//
// # Many owners, one child
//
// Some children have no single owner: a policy of a model depends on all subscriptions to it, from several namespaces.
// [NewGroup] declares a controller whose owner is a [Group], which is a key and not an object:
//
//	limits := controller.NewGroup("limits", &Limits{}).
//		Members(&Subscription{}, modelsOf). // which groups an object belongs to
//		Owns(&RateLimitPolicy{}).
//		Build()
//	subscriptions := controller.New("subscriptions", &Subscriptions{}).Joins(limits).Build()
//
// The reconciliation of a group lists its members with [FetchMembers], sorted, and plans the children once. It runs when a
// member appears, changes, leaves or is deleted, when another object that it read changes, and when a child changes. The
// children have the label of their set and an annotation with the key, so after a restart a child identifies its group even
// if all members were deleted. When the last member leaves, the plan is empty, which prunes the children, in any order of
// events; members need no finalizer. A member that must exist until its part is withdrawn implements reconcile.Finalizer
// and waits there until [Group.Effect] is EffectNone.
//
// The status of a group is in memory: the members of the last reconciliation, the refused members with the reasons, and
// conditions with the errors of the children. The controllers of the members read it with [GroupOf] like an object, and a
// change of the status enqueues their owners. A read before the first reconciliation of the group defers the reconciliation
// of the reader, so that a restart changes no status.
//
// # Controllers without an owner
//
// Use [NewSingleton] for objects that exist once in a cluster and that no object requests, such as a server that the
// operator's environment enables. It declares a controller with one owner, a [Group] with the controller's name. The first
// reconciliation runs at the start; changes of the objects that it reads and plans trigger the others. Read objects that
// offer themselves by a label with reconcile.Discover. The labels of the children are its inventory; see [NewSingleton] for
// the limits.
//
// # Read-your-writes
//
// A reconciliation is deferred while the cache does not contain the last write of the owner. After
// apply.Options.LagDeadline the engine stops waiting and reads from the API server. This applies to every declared kind in
// any representation and with any selector. The engine's own requests do not use the client option
// EnableReadYourWritesConsistency, which may be enabled for other code of the process: it blocks, and has no deadline for
// objects outside a cache selector.
package controller
