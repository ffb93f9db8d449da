package reconciletest

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
)

type (
	// System describes an operator and its cluster, for [Converge], [Scenario] and the other packages of the test kit. Setup and Owners are
	// required, or a Singleton instead of Owners.
	//
	//	type System struct {
	//		// Setup adds the controllers to a manager, as the operator's main does. It is called for each new instance and must not share state
	//		// between instances. The manager has no other sources than its cache, and its clock is that of the test: controllers of this SDK use
	//		// it, others that call time.Now use the real time.
	//		Setup func(mgr manager.Manager) error
	//		// Owners are the objects that the controllers reconcile, created one after the other after Given. Objects without a namespace get
	//		// that of the test, except those of cluster-scoped kinds. The first of several owners is also deleted and recreated while the others
	//		// remain, because they may share children.
	//		Owners []client.Object
	//		// Singleton replaces Owners for a controller without owners. Optional.
	//		Singleton *Singleton
	//		// Given are the objects that exist before the operator starts, including their status.
	//		Given []client.Object
	//		// GivenYAML is added to Given: YAML documents, separated by lines of three dashes.
	//		GivenYAML string
	//		// Change changes an owner, or an input of a Singleton, from spec A to spec B, for the cases about transitions. Nil omits them.
	//		Change func(owner client.Object)
	//		// StandIns simulate all other controllers: they are called after each pass until they change nothing.
	//		StandIns []StandIn
	//		// Outside creates the operator's external dependencies, such as a fake of another system. It is called once for each cluster, which
	//		// keeps the result when the operator restarts: Setup gets it with [OutsideOf], a stand-in with [OutsideFrom]. Optional.
	//		Outside func() any
	//		// Outlives are the objects that may remain after the deletion of the owners, or after a change of their spec, in the format of
	//		// findings, for example "ConfigMap default/shared".
	//		Outlives []string
	//		// Normalise removes from a copy of an object the values that may differ between two equivalent runs, such as which of several owners
	//		// created a shared object. Values that the server sets are always removed.
	//		Normalise func(object *unstructured.Unstructured)
	//		// Scheme contains the kinds. Default: client-go's.
	//		Scheme *runtime.Scheme
	//		// CRDs and CRDPaths (files, or folders with files) define custom resources: scope, subresources, defaults, and the merge rules of
	//		// their fields. Kinds of the scheme without a definition are namespaced, with a status subresource. On an [Environment] they must be
	//		// installed already.
	//		CRDs     []*apiextensionsv1.CustomResourceDefinition
	//		CRDPaths []string
	//		// Optional are the kinds of children that a cluster may lack, such as those of an add-on: each kind is removed with all its objects
	//		// and restored later, and the owners are changed in between.
	//		Optional []schema.GroupKind
	//		// Cache are the cache options that main passes to the manager: selectors, namespaces and transforms are supported, and informers
	//		// that reduce objects, as those of controller.CacheOptions, which an operator of reconcile/operator uses. The zero value keeps
	//		// everything. Other options are ignored.
	//		Cache cache.Options
	//		// Rules are the permissions of the operator; other requests are rejected. Nil allows all.
	//		Rules []rbacv1.PolicyRule
	//		// Environment, if not nil, is the API server to use instead of the fake one. It must run. [Converge] always uses the fake one. Other
	//		// tests use the server too, so a run sees only cluster-scoped objects and those of its own namespace: an operator with children in
	//		// other namespaces never comes to rest there.
	//		Environment *environment.Environment
	//		// MaxPasses is the maximum number of passes until steady state. Zero is 200.
	//		MaxPasses int
	//		// Cases is the maximum number of cases of [Converge], a random sample by a seed, for systems with too many cases. Zero runs all;
	//		// [EnvCases] overrides it.
	//		Cases int
	//		// Accepted are findings that are correct for this system, each with its reason, which the test prints.
	//		Accepted []finding.Acceptance
	//		// Horizon is the duration of each step in the time of the test, for controllers that act on a schedule: every pass scheduled within
	//		// it runs. Zero runs until nothing changes; a system that never stops gets a horizon of eight of its own changes.
	//		Horizon time.Duration
	//		// Invariants must be true for every version of an object that the operator stores, also intermediate ones: see [Always] and [Never].
	//		Invariants []Invariant
	//	}
	System = description.System
	// Singleton describes a controller without an owner object: the objects that it reads, and an operator in which it is disabled. In a
	// [System] it replaces Owners.
	Singleton = description.Singleton
	// StandIn simulates a controller that the test does not run, such as the one that sets the status of Deployments. It must be idempotent
	// and write nothing if there is nothing to do. Its requests are not counted.
	//
	//	type StandIn func(ctx context.Context, c client.Client) error
	StandIn = description.StandIn
	// Invariant must be true for every version of an object that the operator stores. [Always] and [Never] return one.
	//
	//	type Invariant struct {
	//		// contains filtered or unexported fields
	//	}
	Invariant = description.Invariant
	// Event is what an operator has announced about an object.
	//
	//	type Event struct {
	//		// Object names the object, for example "Website default/shop".
	//		Object string
	//		// Type is Normal or Warning.
	//		Type string
	//		// Reason is one CamelCase word, Message a sentence.
	//		Reason, Message string
	//	}
	Event = run.Event
	// SteadyStateError reports that the passes do not end.
	//
	//	type SteadyStateError struct {
	//		// Passes is the number of passes, Idle that of the last passes without a change.
	//		Passes, Idle int
	//		// Last is the owner of the last pass.
	//		Last string
	//		// Within is the time span of the idle passes.
	//		Within time.Duration
	//	}
	//
	//	// Error reports the number and kind of the passes.
	//	func (e *SteadyStateError) Error() string
	SteadyStateError = run.SteadyStateError
)

// Always returns an invariant of one kind, the type of the function's argument: each stored version of it satisfies the function.
// Findings print the text, for example "a Deployment has at least one replica".
func Always[T client.Object](text string, right func(object T) bool) Invariant {
	return description.Always(text, right)
}

// Never returns an invariant of one kind, the type of the function's argument: no stored version of it satisfies the function.
func Never[T client.Object](text string, wrong func(object T) bool) Invariant {
	return description.Never(text, wrong)
}
