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

// Builder declares the reconciled, read and written kinds of a controller. Create it with [New], [Func], [NewGroup] or [NewSingleton]; its
// methods return it for chaining and may be called in any order, from one goroutine. [Builder.Build] returns the controller.
type Builder struct {
	declared
}

// declared has the declarations of a builder.
type declared struct {
	name         string
	phases       phases
	decorate     func(owner client.Object, observation any) // of a group, nil otherwise
	options      Options                                    // see [Options.lifted]
	invalid      error                                      // the error of the options
	prepares     []func(manager.Manager) error
	declarations []declaration.Declaration
	sources      []source.Source
	store        *groups.Store // of the reconciled groups
	joins        []*Controller // of the groups that are read
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

// externalKind is a declared kind of resources outside the cluster.
type externalKind struct {
	external.Declared
	source string
}

// Options are the optional settings of a controller.
type Options struct {
	// FieldManager is the field manager of children and of the owner's status. It must not change between versions of the
	// operator; list names of earlier versions in FormerManagers. At most 90 bytes, printable, without a colon. Default the
	// name of the controller.
	FieldManager string
	// FormerManagers are the field managers under which earlier versions of the operator wrote children and status, by
	// update or by apply. Their fields are transferred to FieldManager. Optional.
	FormerManagers []string
	// Finalizer is the finalizer of owners that need one. To rename it, a release must also remove the former one. Default
	// the domain of the engine, a slash and FieldManager.
	Finalizer string
	// ReconcileDeleted runs all phases as usual for an owner that is being deleted and that only finalizers of other
	// controllers keep, so that PlanResources can react to the deletion without holding the owner: rc.Object has a
	// DeletionTimestamp. The engine adds no finalizer and prunes nothing then, because garbage collection deletes the
	// children. A child that it does not reach cannot be planned, and a plan that recreates children can prolong a deletion in
	// the foreground. An owner with the controller's own finalizer is finalized first, see [reconcile.Finalizer]. Default
	// false: nothing is done for such an owner.
	ReconcileDeleted bool
	// ContestInterval is how long the engine does not write a contested or rejected object while neither the plan nor the
	// other field manager changes. Default 5 minutes.
	ContestInterval time.Duration
	// Apply configures the other settings of the engine. Its Clock defaults to Clock. The builder sets Kinds and Announced.
	// A value for Kinds is an error, and so is a value that differs from the field of the same name above.
	Apply apply.Options
	// Concurrency is the number of owners that are reconciled concurrently. An owner is never reconciled twice at the same
	// time. Zero takes GroupKindConcurrency for the owners' kind from the options of the manager, then
	// MaxConcurrentReconciles, then 4. A singleton always has 1.
	Concurrency int
	// EventInterval is the shortest time between two reconciliations of one owner when events of children and of objects that it
	// reads trigger the second, for owners whose objects change all the time. Edits of the owner, retries and requeues are not
	// delayed. It also delays an owner that becomes ready in several steps. Default 0: every event triggers a reconciliation.
	EventInterval time.Duration
	// Shard restricts the process to a part of the owners. Nil selects all owners.
	Shard *Shard
	// Recorder records condition transitions as events of the API group events.k8s.io. Default the manager's recorder with
	// the name of the controller.
	Recorder events.EventRecorder
	// Observer receives phase and reconciliation events. Optional.
	Observer reconcile.Observer
	// TracerProvider creates a span for each reconciliation, with its trigger, and a child span for each phase, which is in
	// the phase's context. Nil disables tracing: the global provider is not used.
	TracerProvider trace.TracerProvider
	// Clock returns the current time. Default the real clock.
	Clock clock.PassiveClock
	// Grace is how long an infrastructure failure leaves a condition unchanged. Default 10 seconds.
	Grace time.Duration
	// ProgressDeadline is the time after which an owner that is not ready and makes no progress has the condition Stalled, with
	// the reason ProgressDeadlineExceeded. Progress is a change of the status, reason or message of a condition, and a new
	// generation. It ends the condition. Default 10 minutes, none in the runs of package reconciletest; negative disables it.
	ProgressDeadline time.Duration
	// Budget limits the duration of a reconciliation and the size of its plan. Zero fields have their defaults.
	Budget reconcile.Budget
	// InspectChildren adds the health of the applied children to the components of GetComponentHealth. A child and a
	// component of one name have one condition, with the worse state. Without GetComponentHealth the children are always
	// inspected. It is an error for groups.
	InspectChildren bool
	// PauseAnnotation is the annotation that pauses an owner when its value is "true". Default reconcilekit.dev/paused.
	PauseAnnotation string
	// Conditions reports whether the owners may have a condition of the type, for an API whose contract lists the types.
	// Ready is the summary, and Paused is set on paused owners. Other types are neither stored nor announced with events;
	// logs, metrics and explanations still report the errors. The engine removes a condition of such a type that an earlier
	// version stored, but not one of another writer. Nil accepts all types.
	Conditions func(conditionType string) bool
	// SyncTimeout limits the wait for the caches at the start. Default the manager's default, 2 minutes.
	SyncTimeout time.Duration
	// ClaimNamespace is the namespace of the ConfigMaps that store the owners of external resources, for
	// [Builder.External]. Users must not have permission to write ConfigMaps in it. It must be the same for all processes
	// of an operator. Default the namespace of the Pod; required outside a Pod.
	ClaimNamespace string
	// SkipNameValidation allows several controllers with the same name in a process, whose metrics and logs are then
	// merged. Use it in tests only.
	SkipNameValidation bool
}

// New starts the declaration of a controller for the type that the reconciler reconciles. The name must be unique in the
// process. It identifies the controller in logs, metrics and events and is the default field manager, so it must not change
// between versions.
//
// When the observation has no GetComponentHealth, or with InspectChildren of the [Options], the engine inspects the applied
// children of the kinds that [Builder.Owns] declares, with [inspect.Of] or the [Inspector] of the kind. Each kind of children with a status then has a condition,
// such as DeploymentReady, with the worst state of its children. Groups are excluded: their members report the state of the
// children.
//
// The type parameters are inferred from the reconciler. [Controller.SetupWithManager] and [Controller.Describe] return an
// error for an optional phase that does not match its interface: a method with the name of a phase, or nearly, and another
// signature; a method with a pointer receiver when a value was given; a missing ComposeState when F and O differ.
func New[R reconcile.Reconciler[T, F, O], T reconcile.Owner, F, O any](name string, reconciler R) *Builder {
	return declare(name, typed[T, F, O]{reconciler}, pipeline.NewOwner[T](), declaration.Caller())
}

// declare returns a builder with the declaration of the owner, at a position in the author's source code.
func declare(name string, phases phases, owner client.Object, source string) *Builder {
	b := &Builder{declared{name: name, phases: phases}}
	b.declare(declaration.PurposeFor, source, owner, nil)
	return b
}

// Owns declares a kind of children: the plan applies them, and a change of a child enqueues its owner. The phases may also
// read the kind, and plan it in every other way. Options such as [Optional], [Filter] or [Retired] describe the kind.
func (b *Builder) Owns(object client.Object, options ...KindOption) *Builder {
	b.declare(declaration.PurposeOwns, declaration.Caller(), object, options)
	return b
}

// Reads declares a kind that FetchRemoteState reads. Every read enqueues the owner when the object appears, changes or is
// deleted.
func (b *Builder) Reads(object client.Object, options ...KindOption) *Builder {
	b.declare(declaration.PurposeReads, declaration.Caller(), object, options)
	return b
}

// Writes declares a kind that the plan writes without becoming its controller: [apply.Shared], [apply.Retained], Contribute
// and Delete. [NeverDeletes] omits the delete permission. [FieldsOnly], for a plan that only contributes fields, omits the
// create and delete permissions.
func (b *Builder) Writes(object client.Object, options ...KindOption) *Builder {
	b.declare(declaration.PurposeWrites, declaration.Caller(), object, options)
	return b
}

// Watches declares a kind whose events enqueue the owners that mapping returns, for relations that no read expresses, such
// as the events of a child's Pod. [WithPredicates] selects the events; by default all are used. The kind may also be read.
func (b *Builder) Watches(object client.Object, mapping handler.MapFunc, options ...KindOption) *Builder {
	b.declare(declaration.PurposeWatches, declaration.Caller(), object, options).Mapping = mapping
	return b
}

// WatchesSource adds a source of events that is not a kind of the cluster, such as a channel (source.Channel).
func (b *Builder) WatchesSource(sources ...source.Source) *Builder {
	b.sources = append(b.sources, sources...)
	return b
}

// External declares kinds of resources outside the cluster, which FetchRemoteState may observe and the plan may contain;
// see package reconcile/external. Keep the declaration while owners may have resources of the kind: they are deleted with
// their owners only while it exists.
func (b *Builder) External(kinds ...external.Declared) *Builder {
	at := declaration.Caller()
	for _, k := range kinds {
		b.externals = append(b.externals, externalKind{Declared: k, source: at})
	}
	return b
}

// Transitions declares the state machines in the status of the owners. The set-up checks them, and the dataflow page shows
// them.
func (b *Builder) Transitions(tables ...transition.Declared) *Builder {
	b.transitions = append(b.transitions, tables...)
	return b
}

// Options sets the options and replaces those of an earlier call.
func (b *Builder) Options(options Options) *Builder {
	b.options, b.invalid = options.lifted()
	return b
}

// Prepare adds a function that [Controller.SetupWithManager] calls before the set-up, in the order of the calls to Prepare,
// for work that needs the manager, such as creating a client. An error ends the set-up; [ErrSkip] leaves the controller out
// of the manager without an error. Describe and Preview do not call the function.
func (b *Builder) Prepare(prepare func(mgr manager.Manager) error) *Builder {
	b.prepares = append(b.prepares, prepare)
	return b
}

// Build returns the controller. Later calls of the builder's methods do not change it. [Controller.Describe] and
// [Controller.SetupWithManager], which have the scheme, report errors of the declaration.
func (b *Builder) Build() *Controller {
	c := &Controller{declared: b.declared, failed: &observe.ListFailures{}}
	c.prepares, c.declarations, c.sources = slices.Clone(b.prepares), slices.Clone(b.declarations), slices.Clone(b.sources)
	c.joins, c.externals, c.transitions = slices.Clone(b.joins), slices.Clone(b.externals), slices.Clone(b.transitions)
	return c
}

// Metadata returns an object that declares or reads only the metadata of a kind. The cache then stores no spec and no
// status of its objects.
func Metadata(kind schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	return declaration.MetadataOf(kind)
}

// Values returns an extract function for [Index] from a function of the kind's own Go type. It returns no values for other
// types.
func Values[T client.Object](values func(T) []string) client.IndexerFunc {
	return func(object client.Object) []string {
		typed, ok := object.(T)
		if !ok {
			return nil
		}
		return values(typed)
	}
}
