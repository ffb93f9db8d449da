package description

import (
	"context"
	"errors"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
)

// System describes an operator and its cluster, for [Converge], [Steady], [Writes] and [Scenario]. Setup and Owners are required, or a
// Singleton instead of Owners.
type System struct {
	// Setup adds the controllers to a manager, as the operator's main does. It is called for each new instance and must not share state
	// between instances. The manager has no other sources than its cache, and its clock is that of the test: controllers of this SDK use it,
	// others that call time.Now use the real time.
	Setup func(mgr manager.Manager) error
	// Owners are the objects that the controllers reconcile, created one after the other after Given. Objects without a namespace get that
	// of the test, except those of cluster-scoped kinds. The first of several owners is also deleted and recreated while the others remain,
	// because they may share children.
	Owners []client.Object
	// Singleton replaces Owners for a controller without owners. Optional.
	Singleton *Singleton
	// Given are the objects that exist before the operator starts, including their status.
	Given []client.Object
	// GivenYAML is added to Given: YAML documents, separated by lines of three dashes.
	GivenYAML string
	// Change changes an owner, or an input of a Singleton, from spec A to spec B, for the cases about transitions. Nil omits them.
	Change func(owner client.Object)
	// StandIns simulate all other controllers: they are called after each pass until they change nothing.
	StandIns []StandIn
	// Outside creates the operator's external dependencies, such as a fake of another system. It is called once for each cluster, which keeps
	// the result when the operator restarts: Setup gets it with [OutsideOf], a stand-in with [OutsideFrom]. Optional.
	Outside func() any
	// Outlives are the objects that may remain after the deletion of the owners, or after a change of their spec, in the format of findings,
	// for example "ConfigMap default/shared".
	Outlives []string
	// Normalise removes from a copy of an object the values that may differ between two equivalent runs, such as which of several owners
	// created a shared object. Values that the server sets are always removed.
	Normalise func(object *unstructured.Unstructured)
	// Scheme contains the kinds. Default: client-go's.
	Scheme *runtime.Scheme
	// CRDs and CRDPaths (files, or folders with files) define custom resources: scope, subresources, defaults, and the merge rules of their
	// fields. Kinds of the scheme without a definition are namespaced, with a status subresource. On an [Environment] they must be installed
	// already.
	CRDs     []*apiextensionsv1.CustomResourceDefinition
	CRDPaths []string
	// Optional are the kinds of children that a cluster may lack, such as those of an add-on: each kind is removed with all its objects and
	// restored later, and the owners are changed in between.
	Optional []schema.GroupKind
	// Cache are the cache options that main passes to the manager: selectors, namespaces and transforms are supported, and informers that
	// reduce objects, as those of controller.CacheOptions, which an operator of reconcile/operator uses. The zero value keeps everything.
	// Other options are ignored.
	Cache cache.Options
	// Rules are the permissions of the operator; other requests are rejected. Nil allows all.
	Rules []rbacv1.PolicyRule
	// Environment, if not nil, is the API server to use instead of the fake one. It must run. [Converge] always uses the fake one. Other
	// tests use the server too, so a run sees only cluster-scoped objects and those of its own namespace: an operator with children in other
	// namespaces never comes to rest there.
	Environment *environment.Environment
	// MaxPasses is the maximum number of passes until steady state. Zero is 200.
	MaxPasses int
	// Cases is the maximum number of cases of [Converge], a random sample by a seed, for systems with too many cases. Zero runs all;
	// [EnvCases] overrides it.
	Cases int
	// Accepted are findings that are correct for this system, each with its reason, which the test prints.
	Accepted []finding.Acceptance
	// Horizon is the duration of each step in the time of the test, for controllers that act on a schedule: every pass scheduled within it
	// runs. Zero runs until nothing changes; a system that never stops gets a horizon of eight of its own changes.
	Horizon time.Duration
	// Invariants must be true for every version of an object that the operator stores, also intermediate ones: see [Always] and [Never].
	Invariants []Invariant
}

// StandIn simulates a controller that the test does not run, such as the one that sets the status of Deployments. It must be idempotent
// and write nothing if there is nothing to do. Its requests are not counted. On a real API server its lists return only the namespace of
// the test.
type StandIn func(ctx context.Context, c client.Client) error

const (
	defaultMaxPasses = 200
	TestNamespace    = "default"
)

var (
	errNoSetup  = errors.New("system: Setup is required: the function that adds the controllers to a manager")
	errNoOwners = errors.New("system: Owners are required: the objects that the controllers reconcile; or a Singleton, for one that has none")
)
