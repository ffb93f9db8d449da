package external

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// Config configures an [Engine]. The builder of reconcile/controller sets it.
type Config struct {
	// Kinds are the declared kinds. At least one, with different names.
	Kinds []Declared
	// FieldManager, Domain and Finalizer are those of the apply engine. Required.
	FieldManager, Domain, Finalizer string
	// Clock is the clock. Default: the real clock.
	Clock clock.PassiveClock
	// The engine calls this function to enqueue the owner after a delay. Optional.
	Wake func(owner types.NamespacedName, after time.Duration)
	// Called receives every call that was sent, for metrics. Optional.
	Called func(call Call, took time.Duration, err error)
	// Intercept wraps every call. Optional.
	Intercept Interceptor
	// DryRun decides but calls nothing. It trusts the annotation of an owner. Default false.
	DryRun bool
	// Claims stores which owner has a resource. Default: in memory.
	Claims Claims
	// Alive reports whether an owner of the controller exists. It reads from the API server. Default: every owner exists.
	Alive func(ctx context.Context, owner types.NamespacedName, uid types.UID) (bool, error)
}

// Engine observes, ensures and removes the external resources of one controller's owners. Create it with [NewEngine]. It is safe for
// concurrent use, with one reconciliation of an owner at a time.
type Engine struct {
	config     Config
	kinds      map[string]*kind
	limits     map[string]*limits
	annotation string
	registry   *registry

	mu     sync.Mutex
	owners map[types.NamespacedName]*owner
	// orphans are owners whose deletion orphans their resources.
	orphans map[types.UID]bool
}

// owner is the state of one owner.
type owner struct {
	uid      types.UID
	sent     map[id]bool          // effects that have happened and have no stored marker yet
	ensured  map[id]time.Duration // delay before an ensured resource is observed
	observed map[id]observed      // in the current reconciliation
}

// observed is the result of one observation.
type observed struct {
	value   any
	missing bool
}

// NewEngine checks the configuration and returns its engine.
func NewEngine(config Config) (*Engine, error) {
	e := &Engine{
		config: config, kinds: map[string]*kind{}, limits: map[string]*limits{},
		annotation: annotation(config.Domain, config.FieldManager),
		owners:     map[types.NamespacedName]*owner{}, orphans: map[types.UID]bool{},
	}
	if config.FieldManager == "" || config.Domain == "" || config.Finalizer == "" {
		return nil, errors.New("external engine: FieldManager, Domain and Finalizer are required")
	}
	for _, d := range config.Kinds {
		k := d.declared()
		if k.err != nil {
			return nil, fmt.Errorf("external kind %q: %w", k.name, k.err)
		}
		if e.kinds[k.name] != nil {
			return nil, fmt.Errorf("external kind %q is declared twice", k.name)
		}
		e.kinds[k.name], e.limits[k.name] = k, newLimits(k.options)
	}
	if e.config.Claims == nil {
		e.config.Claims = &MemoryClaims{}
	}
	e.registry = &registry{
		claims: e.config.Claims, controller: config.FieldManager, alive: config.Alive, mine: map[types.UID]map[id]bool{},
	}
	if e.config.Clock == nil {
		e.config.Clock = clock.RealClock{}
	}
	return e, nil
}

// Begin starts a reconciliation of the owner and drops its observations.
func (e *Engine) Begin(key types.NamespacedName) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if o := e.owners[key]; o != nil {
		clear(o.observed)
	}
}

// Get observes the resource that into names, for a reconciliation of the owner. It implements [Kind.Observe]. A missing resource is a
// NotFound error of apimachinery, an undeclared kind a [*NotDeclaredError].
func (e *Engine) Get(ctx context.Context, key types.NamespacedName, into *Object) error {
	k := e.kinds[into.Kind]
	if k == nil {
		return &NotDeclaredError{Kind: into.Kind}
	}
	found, err := e.observe(ctx, k, key, into.Name)
	var limited *limitedError
	switch {
	case errors.As(err, &limited):
		e.wake(key, limited.after)
		return &pipeline.NotYetError{What: fmt.Sprintf("%s %q", into.Kind, into.Name)}
	case err != nil:
		return err
	case found.missing:
		return apierrors.NewNotFound(schema.GroupResource{Group: group, Resource: lower(into.Kind)}, into.Name)
	}
	into.status = found.value
	return nil
}

// observe calls the system once per reconciliation.
func (e *Engine) observe(ctx context.Context, k *kind, key types.NamespacedName, name string) (observed, error) {
	i := id{k.name, name}
	e.mu.Lock()
	if o := e.owners[key]; o != nil {
		if known, ok := o.observed[i]; ok {
			e.mu.Unlock()
			return known, nil
		}
	}
	e.mu.Unlock()
	var found observed
	err := e.call(ctx, k, key, Call{Verb: VerbObserve, Key: name}, func(ctx context.Context) (err error) {
		found.value, err = k.observe(ctx, name)
		return err
	})
	if errors.Is(err, ErrNotFound) {
		found, err = observed{missing: true}, nil
	}
	if err != nil {
		return observed{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.owner(key).observed[i] = found
	return found, nil
}

// owner returns the state of an owner. The caller holds the lock.
func (e *Engine) owner(key types.NamespacedName) *owner {
	o := e.owners[key]
	if o == nil {
		o = &owner{sent: map[id]bool{}, ensured: map[id]time.Duration{}, observed: map[id]observed{}}
		e.owners[key] = o
	}
	return o
}

// of returns the state of the owner with the UID. It drops the state of a former owner with the same name.
func (e *Engine) of(key types.NamespacedName, uid types.UID) *owner {
	e.mu.Lock()
	defer e.mu.Unlock()
	o := e.owner(key)
	if o.uid != uid {
		seen := o.observed
		delete(e.owners, key)
		o = e.owner(key)
		o.uid, o.observed = uid, seen
	}
	return o
}

// Forget drops a deleted owner.
func (e *Engine) Forget(uid types.UID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.orphans, uid)
	for key, o := range e.owners {
		if o.uid == uid {
			delete(e.owners, key)
			for _, l := range e.limits {
				l.forget(key)
			}
			break
		}
	}
	e.registry.forget(uid)
}

func (e *Engine) wake(key types.NamespacedName, after time.Duration) {
	if e.config.Wake != nil {
		e.config.Wake(key, after)
	}
}

// Open returns the number of systems of each kind with an open circuit.
func (e *Engine) Open() map[string]int {
	out := map[string]int{}
	for name, l := range e.limits {
		out[name] = l.opened()
	}
	return out
}

// NotDeclaredError reports a read or a plan of a kind that the controller has not declared.
type NotDeclaredError struct {
	// Kind is the name of the kind.
	Kind string
}

// Error names the missing declaration.
func (e *NotDeclaredError) Error() string {
	return fmt.Sprintf("external kind %s is not declared: add External(%s) to the builder of the controller", e.Kind, lower(e.Kind))
}

// HealthCategory returns ProgramError.
func (*NotDeclaredError) HealthCategory() string { return "ProgramError" }

// HealthReason returns the reason of the condition.
func (*NotDeclaredError) HealthReason() string { return "UndeclaredKind" }
