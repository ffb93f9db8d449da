package recording

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"
	sigsjson "sigs.k8s.io/json"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// ReplayOptions are the settings of [Replay] besides the configuration.
type ReplayOptions struct {
	// Scheme names the kinds of Go types, as the one of the recorder did. Nil names them by their Go types.
	Scheme *runtime.Scheme
	// Restore makes an error of a type that this package does not know again: of the Go type as %T prints it, about a read of the named
	// object, with the kind that the answer of the API server names, empty where it names none. Nil, or a nil result, is an error with the
	// same text, answer of the API server and category.
	Restore func(goType string, gvk schema.GroupVersionKind, name string) error
}

// unrecordedReadError reports that a phase has read what the recorded pass did not read.
type unrecordedReadError struct {
	// Query is the read.
	Query query
}

// Error names the read.
func (e *unrecordedReadError) Error() string {
	return "the recorded pass did not " + e.Query.String()
}

// Replay runs the recorded pass again, with the phases of the configuration and the recorded answers; the Reader, Tracker,
// Applier, StatusWriter, Recorder, Observer and Clock of the configuration are not used. It returns the recording of what the phases do now.
// The error names each read that has no recorded answer; the recording is there nevertheless. The builder of reconcile/controller calls it: the
// method Replay of a builder knows the configuration.
func Replay[T reconcile.Owner, F, O any](
	ctx context.Context, config pipeline.Config[T, F, O], r *Recording, options ReplayOptions,
) (*Recording, error) {
	p := &player{namer: namer{options.Scheme}, rec: r, restore: options.Restore, played: map[query]int{}}
	request := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: r.Request.Namespace, Name: r.Request.Name}}
	t := newTape(r.Controller, request, options.Scheme)
	config.Name = r.Controller
	config.Reader, config.Tracker, config.Clock = ownerPlayer{p}, tracker{p}, stopped{r.Now.Time}
	config.Applier, config.StatusWriter = p, p
	config.Observer, config.Recorder, config.Announced = silent{}, silent{}, r.Announced
	attach(t, &config)
	loop, err := pipeline.New(config)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	if _, err := loop.Reconcile(ctx, request); p.broken != nil {
		return nil, fmt.Errorf("replay: %w", errors.Join(p.broken, err))
	}
	out, err := t.recording()
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	if out == nil {
		return nil, errors.New("replay: the pass has not come to its end: is the owner paused by another annotation now?")
	}
	out.Redacted = r.Redacted
	if out, err = redactPlan(out); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	return out, errors.Join(p.unrecorded...)
}

// player answers as the world did.
type player struct {
	namer
	rec     *Recording
	restore func(goType string, gvk schema.GroupVersionKind, name string) error

	mu         sync.Mutex
	played     map[query]int // how often a read was answered
	unrecorded []error
	broken     error
}

// ownerPlayer reads the owner.
type ownerPlayer struct{ *player }

// Get returns the recorded owner.
func (p ownerPlayer) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if err := decode(p.rec.Owner, into); err != nil {
		p.broken = fmt.Errorf("the owner: %w", err)
		return p.broken
	}
	return nil
}

// tracker gives out the player for every pass.
type tracker struct{ *player }

func (t tracker) Begin(client.ObjectKey) (r reconcile.Reader, end func()) { return t.player, func() {} }
func (tracker) Forget(client.ObjectKey)                                   {}

// Get answers a read by name.
func (p *player) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	return p.answer(p.get(key, into), into)
}

// List answers a read by selector.
func (p *player) List(_ context.Context, into client.ObjectList, opts ...client.ListOption) error {
	return p.answer(p.list(into, opts), into)
}

// answer gives the n-th read of a kind the n-th answer; a read that comes more often gets the last one.
func (p *player) answer(q query, into runtime.Object) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found *answeredRead
	rest := p.played[q]
	for i := range p.rec.Reads {
		if p.rec.Reads[i].query == q {
			found = &p.rec.Reads[i]
			if rest--; rest < 0 {
				break
			}
		}
	}
	if found == nil {
		err := &unrecordedReadError{Query: q}
		p.unrecorded = append(p.unrecorded, err)
		return err
	}
	p.played[q]++
	if found.Error != nil {
		if p.restore != nil {
			if err := p.restore(found.Error.Type, found.answeredKind(), q.Name); err != nil {
				return err
			}
		}
		return found.Error.err()
	}
	return decode(found.Object, into)
}

// answeredKind is the kind that the answer of the API server names.
func (r *answeredRead) answeredKind() schema.GroupVersionKind {
	status := r.Error.Status
	if status == nil || status.Details == nil {
		return schema.GroupVersionKind{}
	}
	return schema.GroupVersionKind{Group: status.Details.Group, Version: r.Version(), Kind: status.Details.Kind}
}

// decode fills an object of any representation.
func decode(data jsonValue, into runtime.Object) error {
	if u, ok := into.(json.Unmarshaler); ok {
		if _, dynamic := into.(runtime.Unstructured); dynamic {
			return u.UnmarshalJSON(data)
		}
	}
	value := reflect.ValueOf(into)
	if value.Kind() != reflect.Pointer || value.IsNil() {
		return fmt.Errorf("read into %T: want a pointer to an object", into)
	}
	fresh := reflect.New(value.Type().Elem())
	if err := sigsjson.UnmarshalCaseSensitivePreserveInts(data, fresh.Interface()); err != nil {
		return fmt.Errorf("read into %T: %w", into, err)
	}
	value.Elem().Set(fresh.Elem())
	return nil
}

// Apply answers as the engine did, and keeps the metadata of the owner at what it had written.
func (p *player) Apply(_ context.Context, owner client.Object, _ apply.Plan) apply.Result {
	if p.rec.Applied == nil {
		return apply.Result{}
	}
	if written := p.rec.Applied.Owner; written != nil {
		owner.SetResourceVersion(written.ResourceVersion)
		owner.SetGeneration(written.Generation)
		owner.SetLabels(written.Labels)
		owner.SetAnnotations(written.Annotations)
		owner.SetFinalizers(written.Finalizers)
		owner.SetManagedFields(written.ManagedFields)
	}
	return p.rec.Applied.result()
}

// WriteStatus answers as the engine did.
func (p *player) WriteStatus(context.Context, client.Object, client.Object, []string) (written bool, err error) {
	return p.rec.Status.answer()
}

// Rewrite answers as the engine did.
func (p *player) Rewrite(context.Context, client.Object, client.Object) (written bool, err error) {
	return p.rec.Migrated.answer()
}

// Confirm confirms every owner: nothing is written.
func (p *player) Confirm(context.Context, client.Object) error { return nil }

// Forget forgets nothing.
func (p *player) Forget(types.UID) {}

func (w *ownerWrite) answer() (written bool, err error) {
	if w == nil {
		return false, nil
	}
	return w.Written, w.Error.err()
}

// stopped is the clock of the recorded pass.
type stopped struct{ now time.Time }

func (s stopped) Now() time.Time                  { return s.now }
func (s stopped) Since(t time.Time) time.Duration { return s.now.Sub(t) }

// silent listens to nothing.
type silent struct{}

func (silent) PhaseStart(ctx context.Context, _ reconcile.Phase) context.Context { return ctx }
func (silent) PhaseDone(context.Context, reconcile.Phase, time.Duration, error)  {}
func (silent) PassDone(context.Context, reconcile.Report)                        {}
func (silent) Event(_ runtime.Object, _, _, _ string)                            {}
