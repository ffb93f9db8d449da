package derived

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/fingerprint"
)

// Source is where the objects come from and what is made of them. The functions are pure, save for the two that read.
type Source struct {
	// List reads all objects, Get one of them; nil means that it does not exist or is none of them.
	List func(ctx context.Context) ([]client.Object, error)
	Get  func(ctx context.Context, name types.NamespacedName) (client.Object, error)
	// Each is what one object gives, and Merge what all give together, in the order of namespace and name.
	Each  func(object client.Object) any
	Merge func(parts []any) any
	// MaxBytes is how much of what the objects give is remembered. With more all of them are read again at each change.
	MaxBytes int
}

// Value is a value and what the objects gave to it. It is safe for concurrent use.
type Value struct {
	source Source

	mu     sync.Mutex
	known  bool // the fields below are those of the objects that have been read
	parts  []part
	kept   bool // parts are all objects; false when they take more than is to be remembered
	bytes  int
	merged any
	sum    fingerprint.Sum
	sound  bool // sum is that of merged; false when a value cannot be compared
}

// part is what one object gives.
type part struct {
	name  types.NamespacedName
	value any
	sum   fingerprint.Sum
	sound bool
	bytes int
}

// New returns a value that has not been computed.
func New(source Source) *Value { return &Value{source: source} }

// Get returns the value. It is computed by the first call, and when somebody has changed it.
func (v *Value) Get(ctx context.Context) (any, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known && v.intact() {
		return v.merged, nil
	}
	if err := v.compute(ctx); err != nil {
		return nil, err
	}
	return v.merged, nil
}

// Update reads the object again and reports whether the value is another one since. A value that nobody has asked for stays
// unknown, and what cannot be read or computed now is computed by the next Get, which reports why.
func (v *Value) Update(ctx context.Context, name types.NamespacedName) (changed bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.known {
		return false
	}
	before, compared := v.sum, v.sound
	news, err := v.update(ctx, name)
	if err != nil {
		v.forget()
		return true
	}
	return news && (!compared || !v.sound || before != v.sum)
}

// Forget drops what was computed.
func (v *Value) Forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.forget()
}

func (v *Value) forget() {
	v.known, v.parts, v.kept, v.bytes, v.merged, v.sound = false, nil, false, 0, nil, false
}

func (v *Value) intact() bool {
	sum, sound := fingerprint.Of(v.merged)
	return sound == v.sound && (!sound || sum == v.sum)
}

func (v *Value) compute(ctx context.Context) error {
	v.forget()
	objects, err := v.source.List(ctx)
	if err != nil {
		return err
	}
	for _, object := range objects {
		v.put(v.of(object))
	}
	v.merge()
	v.known = true
	return nil
}

// update brings one part up to date and reports whether it is another one.
func (v *Value) update(ctx context.Context, name types.NamespacedName) (changed bool, err error) {
	defer func() {
		if reason := recover(); reason != nil { // no pass runs that could report it; the next one does
			err = fmt.Errorf("panic: %v", reason)
		}
	}()
	if !v.kept {
		return true, v.compute(ctx)
	}
	object, err := v.source.Get(ctx, name)
	if err != nil {
		return false, err
	}
	at, found := slices.BinarySearchFunc(v.parts, name, compareName)
	switch {
	case object == nil && !found:
		return false, nil
	case object == nil:
		v.bytes -= v.parts[at].bytes
		v.parts = slices.Delete(v.parts, at, at+1)
	default:
		p := v.of(object)
		if found && p.sound && v.parts[at].sound && p.sum == v.parts[at].sum {
			return false, nil
		}
		v.put(p)
	}
	v.merge()
	return true, nil
}

func (v *Value) of(object client.Object) part {
	p := part{name: client.ObjectKeyFromObject(object), value: v.source.Each(object)}
	p.sum, p.bytes, p.sound = fingerprint.OfSized(p.value)
	return p
}

// put adds a part or takes the place of that of the same object.
func (v *Value) put(p part) {
	at, found := slices.BinarySearchFunc(v.parts, p.name, compareName)
	if found {
		v.bytes -= v.parts[at].bytes
		v.parts[at] = p
	} else {
		v.parts = slices.Insert(v.parts, at, p)
	}
	v.bytes += p.bytes + len(p.name.Namespace) + len(p.name.Name)
}

// merge computes the value, and lets go of parts that take more than is to be remembered.
func (v *Value) merge() {
	values := make([]any, len(v.parts))
	for i := range v.parts {
		values[i] = v.parts[i].value
	}
	v.merged = v.source.Merge(values)
	v.sum, v.sound = fingerprint.Of(v.merged)
	v.kept = v.bytes <= v.source.MaxBytes
	if !v.kept {
		v.parts, v.bytes = nil, 0
	}
}

func compareName(p part, name types.NamespacedName) int {
	if order := strings.Compare(p.name.Namespace, name.Namespace); order != 0 {
		return order
	}
	return strings.Compare(p.name.Name, name.Name)
}
