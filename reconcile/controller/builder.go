package controller

import (
	"fmt"
	"reflect"
	"time"

	"go.opentelemetry.io/otel/trace"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/explained"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/groups"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/identity"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shardclaims"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
	"github.com/reconcilekit/reconcilekit/reconcile/external"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
	"github.com/reconcilekit/reconcilekit/reconcile/transition"
)

// Builder declares a controller: what it reconciles, reads and writes. Create it with [New]; its methods return it for
// chaining and may be called in any order before [Builder.SetupWithManager], from one goroutine.
type Builder[T reconcile.Owner, F, O any] struct {
	name       string
	reconciler reconcile.Reconciler[T, F, O]
	decorate   func(T, *conditions.Manager, O) // of a group, nil otherwise
	options    Options                         // see [Options.lifted]
	invalid    error                           // of the options
	failed     *observe.ListFailures
	inspects   bool                 // the health of children, see [Func]
	explainer  *explained.Explainer // once it is set up
	sharded    *shardclaims.Reader  // once it is set up; nil without a Shard
	informers  *shards.Informers    // of the owners, where they ask for those of the Shard alone
	declared
}

// declared is what a builder was told, apart from its types.
type declared struct {
	declarations []declaration.Declaration
	sources      []source.Source
	store        *groups.Store   // of the groups that it reconciles
	joins        []*groups.Store // of the groups that it reads
	externals    []externalKind
	transitions  []transition.Declared
}

// declare adds a declaration.
func (d *declared) declare(p declaration.Purpose, source string, object client.Object, options []KindOption) *declaration.Declaration { //nolint:unparam // a watch sets its mapping
	added := declaration.Declaration{Purpose: p, Object: object, Source: source}
	for _, option := range options {
		option.applyToKind(&added)
	}
	d.declarations = append(d.declarations, added)
	return &d.declarations[len(d.declarations)-1]
}

// externalKind is a declared kind of things outside of the cluster.
type externalKind struct {
	external.Declared
	source string
}

// Options are the settings of a controller that have a default.
type Options struct {
	// FieldManager is the name under which the fields of children and of the owner's status are owned. Empty is the name of the controller. It must
	// stay the same across versions of the operator; a name that was used before is one of FormerManagers. At most 90 bytes, printable, without a colon.
	FieldManager string
	// FormerManagers are names under which earlier versions of the operator wrote children and status, by update or by apply. What they own
	// is moved to FieldManager. Nil is none.
	FormerManagers []string
	// Finalizer is the finalizer of owners that need one. Empty is the domain of the engine, a slash and FieldManager. Rename it only together
	// with a release that removes the former one.
	Finalizer string
	// ContestInterval is how long the engine leaves a contested or rejected object alone while neither the plan nor the other manager changes.
	// Zero is 5 minutes.
	ContestInterval time.Duration
	// Apply configures the rest of the engine. Its Clock defaults to Clock. The builder sets Kinds and Announced; Kinds that is set already is an error, and so is an
	// option above that has another value here.
	Apply apply.Options
	// Concurrency is the number of owners that are reconciled at a time; the phases of a reconciler run for as many owners at once, never
	// twice for one owner. Zero takes what the options of the manager say, GroupKindConcurrency for the kind of the owners before
	// MaxConcurrentReconciles, and 4 where they say nothing. A singleton has one.
	Concurrency int
	// Shard is the part of the owners that this process works on. Nil works on all of them.
	Shard *Shard
	// Recorder announces condition transitions, in the API group events.k8s.io. Nil takes the manager's recorder under the
	// name of the controller.
	Recorder events.EventRecorder
	// Observer is told of phases and passes besides the metrics. Nil tells nobody.
	Observer reconcile.Observer
	// TracerProvider makes a span of each pass, with what woke it, and one below it of each phase; the phases get it in
	// their context. Nil makes none: the global provider is not used.
	TracerProvider trace.TracerProvider
	// Clock tells the time. Nil is the real clock.
	Clock clock.PassiveClock
	// Grace is how long an infrastructure failure leaves a condition as it was. Zero is 10 seconds.
	Grace time.Duration
	// Budget limits what a pass may take: its time, and the objects and bytes of its plan. Its zero fields mean their
	// defaults.
	Budget reconcile.Budget
	// PauseAnnotation pauses an owner when its value is "true". Empty is reconcilekit.dev/paused.
	PauseAnnotation string
	// PauseUnwritten leaves the status of a paused owner as it is, for an API whose contract says so. By default it gets the condition
	// Paused.
	PauseUnwritten bool
	// SyncTimeout bounds the wait for the caches at the start. Zero takes the manager's default, 2 minutes.
	SyncTimeout time.Duration
	// ClaimNamespace is the namespace of the ConfigMaps that store which owner has which external resource, for [Builder.External]. Users
	// must not be able to write ConfigMaps in it. All processes of an operator have the same one. Empty is the namespace of the Pod; a process
	// that does not run in a Pod has to set it.
	ClaimNamespace string
	// SkipNameValidation allows several controllers of one name in a process, which mixes up their metrics and logs. It
	// is for tests.
	SkipNameValidation bool
}

// New starts the declaration of a controller for the type that the reconciler reconciles. The name must be unique in
// the process; it names the controller in logs, metrics and events, and is the default field manager, so it must not
// change between versions.
//
// The type parameters follow from the reconciler. A phase that is optional and does not fit is an error of
// [Builder.SetupWithManager] and [Builder.Describe]: a method with the name of a phase, or nearly, and another signature, or with a
// pointer receiver where a value is given; a ComposeState that is missing although the plan is not made from what is fetched.
func New[R reconcile.Reconciler[T, F, O], T reconcile.Owner, F, O any](name string, reconciler R) *Builder[T, F, O] {
	return declare[T, F, O](name, reconciler, declaration.Caller())
}

// declare returns a builder with the declaration of the owner, at a place of the author's source.
func declare[T reconcile.Owner, F, O any](name string, reconciler reconcile.Reconciler[T, F, O], source string) *Builder[T, F, O] {
	b := &Builder[T, F, O]{name: name, reconciler: reconciler, failed: &observe.ListFailures{}}
	b.declare(declaration.PurposeFor, source, newObject[T](), nil)
	return b
}

// Owns declares a kind of children: the plan applies them, and the owner is woken when one of them changes. They may be
// read as well, and written in every other way that a plan knows. What else there is to say of the kind stands beside it, such
// as [Optional], [Filter] or [Retired].
func (b *Builder[T, F, O]) Owns(object client.Object, options ...KindOption) *Builder[T, F, O] {
	b.declare(declaration.PurposeOwns, declaration.Caller(), object, options)
	return b
}

// Reads declares a kind that FetchRemoteState reads. Every read wakes the owner when its object appears, changes or goes.
func (b *Builder[T, F, O]) Reads(object client.Object, options ...KindOption) *Builder[T, F, O] {
	b.declare(declaration.PurposeReads, declaration.Caller(), object, options)
	return b
}

// Writes declares a kind that the plan writes without becoming its controller: [apply.Shared], [apply.Retained], Contribute and Delete.
// Where it deletes none, [NeverDeletes] needs one right less, and where it contributes fields alone, [FieldsOnly] needs the
// least.
func (b *Builder[T, F, O]) Writes(object client.Object, options ...KindOption) *Builder[T, F, O] {
	b.declare(declaration.PurposeWrites, declaration.Caller(), object, options)
	return b
}

// Watches declares a kind whose events wake the owners that mapping returns, for what no read expresses, such as the
// events of a Pod of a child. [WithPredicates] chooses the events; without it all count. The kind may be read as well.
func (b *Builder[T, F, O]) Watches(object client.Object, mapping handler.MapFunc, options ...KindOption) *Builder[T, F, O] {
	b.declare(declaration.PurposeWatches, declaration.Caller(), object, options).Mapping = mapping
	return b
}

// WatchesSource adds a source of events that is no kind of the cluster, such as a channel (source.Channel).
func (b *Builder[T, F, O]) WatchesSource(sources ...source.Source) *Builder[T, F, O] {
	b.sources = append(b.sources, sources...)
	return b
}

// External declares kinds of things outside of the cluster: FetchRemoteState may observe them and the plan name them, see the package
// reconcile/external. Keep a declaration as long as owners may have something of the kind, so that it is removed with them.
func (b *Builder[T, F, O]) External(kinds ...external.Declared) *Builder[T, F, O] {
	at := declaration.Caller()
	for _, k := range kinds {
		b.externals = append(b.externals, externalKind{Declared: k, source: at})
	}
	return b
}

// Transitions declares the state machines in the status of the owners. They are checked when the controller is set up, and drawn on the
// dataflow page.
func (b *Builder[T, F, O]) Transitions(tables ...transition.Declared) *Builder[T, F, O] {
	b.transitions = append(b.transitions, tables...)
	return b
}

// Options sets the options; those set before are replaced.
func (b *Builder[T, F, O]) Options(options Options) *Builder[T, F, O] {
	b.options, b.invalid = options.lifted()
	return b
}

// Share makes the shard the part of the owners that this process works on, as [Options] do with their Shard, which must be nil then: package
// operator takes it from flags. Call it before [CacheOptions]. Groups have no object to claim, and are not shared.
func (b *Builder[T, F, O]) Share(shard Shard) error {
	if b.options.Shard != nil {
		return fmt.Errorf("controller %q: Options.Shard is there already, with the name %q: leave one of the two out", b.name, b.options.Shard.Name)
	}
	if err := shards.Check(&shard, b.name, b.store != nil); err != nil {
		return err
	}
	b.options.Shard = &shard
	return nil
}

// StoreClaimsIn sets the ClaimNamespace of the [Options] where it is empty: package operator takes it from flags.
func (b *Builder[T, F, O]) StoreClaimsIn(namespace string) {
	if b.options.ClaimNamespace == "" {
		b.options.ClaimNamespace = namespace
	}
}

// Metadata returns an object that declares or reads only the metadata of a kind: the cache then keeps no spec and no
// status of it.
func Metadata(kind schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	return declaration.MetadataOf(kind)
}

// Values makes the extract function of [Index] from one of the kind's own Go type. Other objects have no values.
func Values[T client.Object](values func(T) []string) client.IndexerFunc {
	return func(object client.Object) []string {
		typed, ok := object.(T)
		if !ok {
			return nil
		}
		return values(typed)
	}
}

// newObject returns an empty T, which is a pointer to a struct.
func newObject[T reconcile.Owner]() T {
	return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T) //nolint:forcetypeassert // a pointer to T's element is a T
}

// names are those of the controller, and of what it leaves on objects.
func (b *Builder[T, F, O]) names() identity.Names { return identity.Of(b.name, b.options.Apply) }

// resolved are the declared kinds, when the phases of the reconciler and the declarations are in order.
func (b *Builder[T, F, O]) resolved(scheme *runtime.Scheme) (*declaration.Catalogue, error) {
	if b.invalid != nil {
		return nil, fmt.Errorf("controller %q: %w", b.name, b.invalid)
	}
	if err := pipeline.CheckPhases(b.reconciler); err != nil {
		return nil, fmt.Errorf("controller %q: %w", b.name, err)
	}
	for _, table := range b.transitions {
		if err := table.Check(); err != nil {
			return nil, fmt.Errorf("controller %q: %w", b.name, err)
		}
	}
	kinds, err := declaration.Resolve(b.name, scheme, b.declarations)
	if err == nil {
		kinds.ShareOwners(shards.SelectionOf(b.options.Shard))
	}
	return kinds, err
}
