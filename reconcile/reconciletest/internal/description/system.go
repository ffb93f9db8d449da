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

// System is an operator and the world that it lives in: what [Converge], [Steady], [Writes] and [Scenario] run. Setup
// and Owners are required, or a Singleton instead of Owners.
type System struct {
	// Setup adds the controllers to a manager, as the operator's main does. It is called for each new instance, so it
	// must build everything anew; what a previous instance has remembered must be gone. The manager has no other sources
	// than its cache, and its clock is that of the test: controllers of this SDK take it over, others that look at
	// time.Now see the real time.
	Setup func(mgr manager.Manager) error
	// Owners are the objects that the controllers reconcile, created one after the other once Given is there. Objects
	// without a namespace get that of the test, except those of cluster-scoped kinds. Of several owners the first also goes
	// and comes back while the others stay: they may have children in common.
	Owners []client.Object
	// Singleton takes the place of Owners where a controller has none. Nil is none.
	Singleton *Singleton
	// Given is what is in the world before the operator starts. A status is stored as well.
	Given []client.Object
	// GivenYAML is added to Given: YAML documents, separated by lines of three dashes.
	GivenYAML string
	// Change makes spec B of an owner, or of an input of a Singleton, out of its spec A, for the cases about transitions. Nil
	// leaves them out.
	Change func(owner client.Object)
	// StandIns play everybody else: they are called after each pass until they change nothing more.
	StandIns []StandIn
	// Outside makes what the operator works with outside of the cluster, such as a double of another system. It is called once for each
	// world, which keeps it when the operator starts anew: Setup gets it with [OutsideOf], a stand-in with [OutsideFrom]. Nil is nothing.
	Outside func() any
	// Outlives are the objects that may still be there when the owners are gone, or the spec that asked for them, as a
	// finding prints them, for example "ConfigMap default/shared".
	Outlives []string
	// Normalise takes out of a copy of an object what may differ between two runs that end alike, such as which of several
	// owners has made what they share. What the server sets is left out anyway.
	Normalise func(object *unstructured.Unstructured)
	// Scheme knows the kinds. Nil is client-go's.
	Scheme *runtime.Scheme
	// CRDs and CRDPaths (files, or folders with files) define custom resources: scope, subresources, defaults, and the
	// rules by which their fields are owned. Kinds of the scheme without a definition count as namespaced, with a status
	// subresource. On an [Environment] they must be installed already.
	CRDs     []*apiextensionsv1.CustomResourceDefinition
	CRDPaths []string
	// Optional are the kinds of children that a cluster may lack, such as those of an add-on: one at a time is taken away with all its
	// objects and comes back, and meanwhile the owners are changed.
	Optional []schema.GroupKind
	// Cache is what main gives to the manager: selectors, namespaces and transforms are honoured, and informers that decide what they keep of
	// an object, as those of controller.CacheOptions do, which are what an operator of reconcile/operator has. Zero keeps all. The rest is ignored.
	Cache cache.Options
	// Rules are the rights of the operator; every request that they do not cover is refused. Nil allows all.
	Rules []rbacv1.PolicyRule
	// Environment, when it is not nil, is the API server to run on instead of the fake world. It must run. [Converge] runs
	// in the fake world only. As other tests use the server too, a run sees the objects without a namespace and those of its
	// own one: an operator with children in other namespaces never comes to rest there.
	Environment *environment.Environment
	// MaxPasses bounds the passes until the world is at rest. Zero is 200.
	MaxPasses int
	// Cases is the most cases that [Converge] runs, drawn from all by a seed: for systems with too many of them. Zero runs
	// all, as [EnvCases] does for once.
	Cases int
	// Accepted are findings that are right for this system, each with its reason, which the test prints.
	Accepted []finding.Acceptance
	// Horizon is how long each step of a run lasts in the time of the test, for controllers that act at times of their own:
	// every pass planned within it is reached. Zero runs until nothing more changes; a system that never comes to that end
	// gets a horizon of eight of its own changes.
	Horizon time.Duration
	// Invariants hold for every version of an object that the operator stores, on the way too: see [Always] and [Never].
	Invariants []Invariant
}

// StandIn plays a controller that the test does not run, such as the one that sets the status of Deployments. It must be
// idempotent: when nothing is left to do it writes nothing. Its requests are not counted. On a real API server its lists see
// the namespace of the test only.
type StandIn func(ctx context.Context, c client.Client) error

const (
	defaultMaxPasses = 200
	TestNamespace    = "default"
)

var (
	errNoSetup  = errors.New("system: Setup is required: the function that adds the controllers to a manager")
	errNoOwners = errors.New("system: Owners are required: the objects that the controllers reconcile; or a Singleton, for one that has none")
)
