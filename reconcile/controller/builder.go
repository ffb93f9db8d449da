package controller

import (
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/groups"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/external"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
	"github.com/reconcilekit/reconcilekit/reconcile/transition"
)

// Builder declares a controller: what it reconciles, reads and writes. Create it with [New], [Func], [NewGroup] or [NewSingleton]; its
// methods return it for chaining and may be called in any order, from one goroutine. [Builder.Build] returns the controller.
type Builder struct {
	declared
}

// declared is what a builder declares.
type declared struct {
	name         string
	phases       phases
	decorate     func(owner client.Object, observation any) // of a group, nil otherwise
	options      Options                                    // see [Options.lifted]
	invalid      error                                      // of the options
	prepares     []func(manager.Manager) error
	declarations []declaration.Declaration
	sources      []source.Source
	store        *groups.Store // of the groups that it reconciles
	joins        []*Controller // of the groups that it reads
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
	// Conditions reports whether the owners have a condition of the type, for an API whose contract says which there are: Ready is the summary,
	// Paused that of a paused owner. Others are neither stored nor announced with events; logs, metrics and explanations still report what is wrong. One
	// that an earlier version stored is removed, one of another writer stays. Nil keeps all.
	Conditions func(conditionType string) bool
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
// Where the observation has no GetComponentHealth, the engine inspects the applied children of the kinds that [Builder.Owns] declares
// ([inspect.Of], or the [Inspector] of the kind), and each kind of children with a status has a condition, such as DeploymentReady, with the
// worst of them. Groups are left out: their members report how the children are.
//
// The types follow from the reconciler. A phase that is optional and does not fit is an error of
// [Controller.SetupWithManager] and [Controller.Describe]: a method with the name of a phase, or nearly, and another signature, or with a
// pointer receiver where a value is given; a ComposeState that is missing although the plan is not made from what is fetched.
func New[R reconcile.Reconciler[T, F, O], T reconcile.Owner, F, O any](name string, reconciler R) *Builder {
	return declare(name, typed[T, F, O]{reconciler}, pipeline.NewOwner[T](), declaration.Caller())
}

// declare returns a builder with the declaration of the owner, at a place of the author's source.
func declare(name string, phases phases, owner client.Object, source string) *Builder {
	b := &Builder{declared{name: name, phases: phases}}
	b.declare(declaration.PurposeFor, source, owner, nil)
	return b
}

// Owns declares a kind of children: the plan applies them, and the owner is woken when one of them changes. They may be
// read as well, and written in every other way that a plan knows. What else there is to say of the kind stands beside it, such
// as [Optional], [Filter] or [Retired].
func (b *Builder) Owns(object client.Object, options ...KindOption) *Builder {
	b.declare(declaration.PurposeOwns, declaration.Caller(), object, options)
	return b
}

// Reads declares a kind that FetchRemoteState reads. Every read wakes the owner when its object appears, changes or goes.
func (b *Builder) Reads(object client.Object, options ...KindOption) *Builder {
	b.declare(declaration.PurposeReads, declaration.Caller(), object, options)
	return b
}

// Writes declares a kind that the plan writes without becoming its controller: [apply.Shared], [apply.Retained], Contribute and Delete.
// Where it deletes none, [NeverDeletes] needs one right less, and where it contributes fields alone, [FieldsOnly] needs the
// least.
func (b *Builder) Writes(object client.Object, options ...KindOption) *Builder {
	b.declare(declaration.PurposeWrites, declaration.Caller(), object, options)
	return b
}

// Watches declares a kind whose events wake the owners that mapping returns, for what no read expresses, such as the
// events of a Pod of a child. [WithPredicates] chooses the events; without it all count. The kind may be read as well.
func (b *Builder) Watches(object client.Object, mapping handler.MapFunc, options ...KindOption) *Builder {
	b.declare(declaration.PurposeWatches, declaration.Caller(), object, options).Mapping = mapping
	return b
}

// WatchesSource adds a source of events that is no kind of the cluster, such as a channel (source.Channel).
func (b *Builder) WatchesSource(sources ...source.Source) *Builder {
	b.sources = append(b.sources, sources...)
	return b
}

// External declares kinds of things outside of the cluster: FetchRemoteState may observe them and the plan name them, see the package
// reconcile/external. Keep a declaration as long as owners may have something of the kind, so that it is removed with them.
func (b *Builder) External(kinds ...external.Declared) *Builder {
	at := declaration.Caller()
	for _, k := range kinds {
		b.externals = append(b.externals, externalKind{Declared: k, source: at})
	}
	return b
}

// Transitions declares the state machines in the status of the owners. They are checked when the controller is set up, and drawn on the
// dataflow page.
func (b *Builder) Transitions(tables ...transition.Declared) *Builder {
	b.transitions = append(b.transitions, tables...)
	return b
}

// Options sets the options; those set before are replaced.
func (b *Builder) Options(options Options) *Builder {
	b.options, b.invalid = options.lifted()
	return b
}

// Prepare adds a function that [Controller.SetupWithManager] calls first, in the order of the calls: one that needs the manager, such as
// to load settings or to make a client. An error ends the set-up; [ErrSkip] leaves the controller out of the manager without an error.
// Descriptions and previews do not call it.
func (b *Builder) Prepare(prepare func(mgr manager.Manager) error) *Builder {
	b.prepares = append(b.prepares, prepare)
	return b
}

// Build returns the controller. Later calls of the builder's methods do not change it. Mistakes in the declaration are errors of
// [Controller.Describe] and [Controller.SetupWithManager], which know the scheme.
func (b *Builder) Build() *Controller {
	c := &Controller{declared: b.declared, failed: &observe.ListFailures{}}
	c.prepares, c.declarations, c.sources = slices.Clone(b.prepares), slices.Clone(b.declarations), slices.Clone(b.sources)
	c.joins, c.externals, c.transitions = slices.Clone(b.joins), slices.Clone(b.externals), slices.Clone(b.transitions)
	return c
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
