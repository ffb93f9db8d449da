package controller

import (
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/record"
)

// Builder declares a controller: what it reconciles, reads and writes. Create it with [New]; its methods return it for
// chaining and may be called in any order before [Builder.SetupWithManager], from one goroutine.
type Builder[T reconcile.Owner, F, O any] struct {
	name       string
	reconciler reconcile.Reconciler[T, F, O]
	decorate   func(T, *conditions.Manager, O) // of a group, nil otherwise
	options    Options
	declared
}

// declared is what a builder was told, apart from its types.
type declared struct {
	declarations []declaration
	filters      []filter
	fields       []field
	whens        []when
	sources      []source.Source
	plurals      map[schema.GroupVersionKind]string
	board        *board   // of the groups that it reconciles
	joins        []*board // of the groups that it reads
}

// Options are the settings of a controller that have a default.
type Options struct {
	// Apply configures the engine that writes. Its FieldManager defaults to the name of the controller, its Clock to
	// Clock.
	Apply apply.Options
	// Concurrency is the number of owners that are reconciled at a time. Zero takes the manager's default, which is 1.
	Concurrency int
	// Recorder announces condition transitions. Nil takes the manager's recorder under the name of the controller.
	Recorder reconcile.EventRecorder
	// Observer is told of phases and passes besides the metrics. Nil tells nobody.
	Observer reconcile.Observer
	// TracerProvider makes a span of each pass, with what woke it, and one below it of each phase; the phases get it in
	// their context. Nil makes none: the global provider is not used.
	TracerProvider trace.TracerProvider
	// Clock tells the time. Nil is the real clock.
	Clock clock.PassiveClock
	// Grace is how long infrastructure trouble leaves a condition as it was. Zero is 10 seconds.
	Grace time.Duration
	// Budget limits what a pass may take: its time, and the objects and bytes of its plan. Its zero fields mean their
	// defaults.
	Budget reconcile.Budget
	// PauseAnnotation pauses an owner when its value is "true". Empty is [reconcile.DefaultPauseAnnotation].
	PauseAnnotation string
	// SyncTimeout bounds the wait for the caches at the start. Zero takes the manager's default, 2 minutes.
	SyncTimeout time.Duration
	// Record writes down each pass, to replay it in a test (see the package reconcile/record). Nil records nothing and costs
	// nothing.
	Record *record.Recorder
	// SkipNameValidation allows several controllers of one name in a process, which mixes up their metrics and logs. It
	// is for tests.
	SkipNameValidation bool
}

// New starts the declaration of a controller for the type that the reconciler reconciles. The name must be unique in
// the process; it names the controller in logs, metrics and events, and is the default field manager, so it must not
// change between versions.
//
// The type parameters follow from the reconciler. A phase that is optional and does not fit is an error of
// [Builder.SetupWithManager] and [Builder.Describe], see [reconcile.CheckPhases].
func New[R reconcile.Reconciler[T, F, O], T reconcile.Owner, F, O any](name string, reconciler R) *Builder[T, F, O] {
	b := &Builder[T, F, O]{name: name, reconciler: reconciler}
	b.declare(purposeFor, caller(), newObject[T]())
	return b
}

// Owns declares kinds of children: the plan applies them, and the owner is woken when one of them changes. They may be
// read as well, and written in every other way that a plan knows.
func (b *Builder[T, F, O]) Owns(objects ...client.Object) *Builder[T, F, O] {
	b.declare(purposeOwns, caller(), objects...)
	return b
}

// Reads declares kinds that FetchRemoteState reads. Every read wakes the owner when its object appears, changes or goes.
func (b *Builder[T, F, O]) Reads(objects ...client.Object) *Builder[T, F, O] {
	b.declare(purposeReads, caller(), objects...)
	return b
}

// Writes declares kinds that the plan writes without becoming their controller: ApplyWithoutOwnerRef and Delete. Where it
// deletes none, [Builder.Shares] needs one right less.
func (b *Builder[T, F, O]) Writes(objects ...client.Object) *Builder[T, F, O] {
	b.declare(purposeWrites, caller(), objects...)
	return b
}

// Shares declares kinds of which the plan makes objects for several owners and deletes none: ApplyWithoutOwnerRef with
// apply.Retain, without Recreate. Such objects are never deleted, so it needs no right to delete them.
func (b *Builder[T, F, O]) Shares(objects ...client.Object) *Builder[T, F, O] {
	b.declare(purposeShares, caller(), objects...)
	return b
}

// Contributes declares kinds of which the plan owns a few fields of somebody else's objects: Contribute. It needs no
// right to create or delete them.
func (b *Builder[T, F, O]) Contributes(objects ...client.Object) *Builder[T, F, O] {
	b.declare(purposeContributes, caller(), objects...)
	return b
}

// Watches declares a kind whose events wake the owners that mapping returns, for what no read expresses, such as the
// events of a Pod of a child. Predicates choose the events; none takes all. The kind may be read as well.
func (b *Builder[T, F, O]) Watches(
	object client.Object, mapping handler.MapFunc, predicates ...predicate.Predicate,
) *Builder[T, F, O] {
	b.declarations = append(b.declarations, declaration{
		purpose: purposeWatches, object: object, source: caller(), mapping: mapping, predicates: predicates,
	})
	return b
}

// WatchesSource adds a source of events that is no kind of the cluster, such as a channel (source.Channel).
func (b *Builder[T, F, O]) WatchesSource(sources ...source.Source) *Builder[T, F, O] {
	b.sources = append(b.sources, sources...)
	return b
}

// Optional declares kinds whose CRD may be missing. While it is, reads find nothing ([AbsentError], which is a NotFound,
// and empty lists) and children of the kind are left out of the plan; when it appears, the kind is watched and the
// owners that asked for it are woken, without a restart. A kind that is declared in no other way may be read.
func (b *Builder[T, F, O]) Optional(objects ...client.Object) *Builder[T, F, O] {
	b.declare(purposeOptional, caller(), objects...)
	return b
}

// Retired declares kinds of children that an earlier version of the operator made and this one makes no more. They are
// neither watched nor read: what is left of them is found by its label, asked for where the inventory of an owner names the
// kind, and pruned, which takes the rights to list and delete it. Without that a kind that is owned no longer is neither
// looked for nor pruned, and the condition PruneBlocked says so. A kind that the plan only contributed to stays declared
// with [Builder.Contributes] instead, to be given back. Once no owner has a child of the kind the declaration may go.
func (b *Builder[T, F, O]) Retired(objects ...client.Object) *Builder[T, F, O] {
	b.declare(purposeRetired, caller(), objects...)
	return b
}

// Filter restricts the cache of a kind to the objects that the selector matches, so that no informer holds all Secrets
// of a cluster; others are not found by reads. It takes effect through [CacheOptions]. Owners and optional kinds cannot be
// filtered.
func (b *Builder[T, F, O]) Filter(object client.Object, selector labels.Selector) *Builder[T, F, O] {
	b.filters = append(b.filters, filter{object: object, labels: selector})
	return b
}

// When restricts the events of a kind that wake owners through their reads and as children to those that pass all
// predicates, for kinds that change often in ways that no phase looks at, such as the heartbeat of a Node. It is a promise
// about the phases: what the predicates drop must not matter to them.
func (b *Builder[T, F, O]) When(object client.Object, predicates ...predicate.Predicate) *Builder[T, F, O] {
	b.whens = append(b.whens, when{object: object, predicates: predicates})
	return b
}

// IndexField lets reads list a kind by the equality of a field (client.MatchingFields). The function returns the values
// of the field, none when the object is not to be found through it.
func (b *Builder[T, F, O]) IndexField(
	object client.Object, name string, extract client.IndexerFunc,
) *Builder[T, F, O] {
	b.fields = append(b.fields, field{object: object, name: name, extract: extract})
	return b
}

// Plural names the resource of a kind for the rights, where it is not the regular plural of the kind in lower case.
func (b *Builder[T, F, O]) Plural(kind schema.GroupVersionKind, resource string) *Builder[T, F, O] {
	if b.plurals == nil {
		b.plurals = map[schema.GroupVersionKind]string{}
	}
	b.plurals[kind] = resource
	return b
}

// Options sets the options; those set before are replaced.
func (b *Builder[T, F, O]) Options(options Options) *Builder[T, F, O] {
	b.options = options
	return b
}

func (b *Builder[T, F, O]) declare(p purpose, source string, objects ...client.Object) {
	b.declarations = slices.Grow(b.declarations, len(objects))
	for _, object := range objects {
		b.declarations = append(b.declarations, declaration{purpose: p, object: object, source: source})
	}
}

// Metadata returns an object that declares or reads only the metadata of a kind: the cache then keeps no spec and no
// status of it.
func Metadata(kind schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(kind)
	return object
}

// Values makes the extract function of [Builder.IndexField] from one of the kind's own Go type. Other objects have no values.
func Values[T client.Object](values func(T) []string) client.IndexerFunc {
	return func(object client.Object) []string {
		typed, ok := object.(T)
		if !ok {
			return nil
		}
		return values(typed)
	}
}
