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

// Source defines the objects and the functions of a value. The functions are pure, except for List and Get.
type Source struct {
	// List reads all objects, Get one of them; nil means that it does not exist or is not selected.
	List func(ctx context.Context) ([]client.Object, error)
	Get  func(ctx context.Context, name types.NamespacedName) (client.Object, error)
	// Each returns the contribution of one object, and Merge combines all contributions in the order of namespace and name.
	Each  func(object client.Object) any
	Merge func(parts []any) any
	// MaxBytes is the maximum size of the remembered contributions. Beyond it, each change reads all objects again.
	MaxBytes int
}

// Value is a derived value and the contributions of its objects. It is safe for concurrent use.
type Value struct {
	source Source

	mu     sync.Mutex
	known  bool // the fields below are valid
	parts  []part
	kept   bool // parts has all objects; false if they exceed the limit
	bytes  int
	merged any
	sum    fingerprint.Sum
	sound  bool // sum is that of merged; false if a value cannot be compared
}

// part is the contribution of one object.
type part struct {
	name  types.NamespacedName
	value any
	sum   fingerprint.Sum
	sound bool
	bytes int
}

// New returns a value that has not been computed.
func New(source Source) *Value { return &Value{source: source} }

// Get returns the value. It computes the value on the first call, and if a caller has modified it.
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

// Update reads the object again and reports whether the value has changed. A value that was never read stays unknown. An error is
// reported by the next Get, which tries again.
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

// Forget drops the computed value.
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

// update updates one part and reports whether it has changed.
func (v *Value) update(ctx context.Context, name types.NamespacedName) (changed bool, err error) {
	defer func() {
		if reason := recover(); reason != nil { // no reconciliation runs that could report it; the next one does
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

// put adds a part or replaces that of the same object.
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

// merge computes the value, and drops the parts if they exceed the limit.
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
