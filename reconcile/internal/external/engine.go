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

// Config is what an [Engine] works with. The builder of reconcile/controller fills it in.
type Config struct {
	// Kinds are the declared kinds. At least one, with different names.
	Kinds []Declared
	// FieldManager, Domain and Finalizer are those of the apply engine. Required.
	FieldManager, Domain, Finalizer string
	// Clock tells the time. Nil is the real clock.
	Clock clock.PassiveClock
	// Wake asks for a pass of the owner after a time. Nil asks for none.
	Wake func(owner types.NamespacedName, after time.Duration)
	// Called is told of every call that was sent, for metrics. Nil tells nobody.
	Called func(call Call, took time.Duration, err error)
	// Intercept stands around every call. Nil lets all through.
	Intercept Interceptor
	// DryRun decides and does nothing. It takes the annotation of an owner for what the owner has. Default false.
	DryRun bool
	// Claims store which owner has a resource. Nil keeps them in memory.
	Claims Claims
	// Alive reports whether an owner of the controller exists. It reads from the API server. Nil takes every owner for one that exists.
	Alive func(ctx context.Context, owner types.NamespacedName, uid types.UID) (bool, error)
}

// Engine observes, ensures and removes what the owners of one controller have outside of the cluster. Make it with [NewEngine]; it is safe
// for concurrent use, with one pass an owner at a time.
type Engine struct {
	config     Config
	kinds      map[string]*kind
	limits     map[string]*limits
	annotation string
	registry   *registry

	mu     sync.Mutex
	owners map[types.NamespacedName]*owner
	// orphans are owners whose deletion leaves what they have made.
	orphans map[types.UID]bool
}

// owner is what is remembered of one owner.
type owner struct {
	uid      types.UID
	sent     map[id]bool          // effects that have happened, whose marker is to be stored
	ensured  map[id]time.Duration // pause before what was ensured is observed
	observed map[id]observed      // in the running pass
}

// observed is the answer to one observation.
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

// Begin starts a pass of the owner: nothing is observed yet.
func (e *Engine) Begin(key types.NamespacedName) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if o := e.owners[key]; o != nil {
		clear(o.observed)
	}
}

// Get observes the thing that into names, for a pass of the owner. It is the read behind [Kind.Observe]: that there is nothing is a
// NotFound of the API machinery, an undeclared kind a [*NotDeclaredError].
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

// observe asks the system once a pass.
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

// owner returns what is remembered of an owner. The caller has the lock.
func (e *Engine) owner(key types.NamespacedName) *owner {
	o := e.owners[key]
	if o == nil {
		o = &owner{sent: map[id]bool{}, ensured: map[id]time.Duration{}, observed: map[id]observed{}}
		e.owners[key] = o
	}
	return o
}

// of returns what is remembered of exactly that owner: of one that was replaced under its name nothing counts any more.
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

// Forget drops an owner that is gone.
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

// Open returns how many systems of each kind are not called for now, because they have failed too often.
func (e *Engine) Open() map[string]int {
	out := map[string]int{}
	for name, l := range e.limits {
		out[name] = l.opened()
	}
	return out
}

// NotDeclaredError is the refusal to read or plan something of a kind that the controller was not told of.
type NotDeclaredError struct {
	// Kind is the name of the kind.
	Kind string
}

// Error names what to add.
func (e *NotDeclaredError) Error() string {
	return fmt.Sprintf("external kind %s is not declared: add External(%s) to the builder of the controller", e.Kind, lower(e.Kind))
}

// HealthCategory names the refusal a mistake of the program.
func (*NotDeclaredError) HealthCategory() string { return "ProgramError" }

// HealthReason is the reason of the condition.
func (*NotDeclaredError) HealthReason() string { return "UndeclaredKind" }
