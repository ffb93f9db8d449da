package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Defaults of a [Budget].
const (
	DefaultDeadline    = 2 * time.Minute
	DefaultMaxChildren = 5000
	DefaultMaxBytes    = 64 << 20
)

// statusTime is how long the status may take to be written after the deadline of a pass: the owner has to learn of it.
const statusTime = 10 * time.Second

// Reasons of the errors of passes that exceed their [Budget].
const (
	// ReasonDeadlineExceeded: the pass took longer than its deadline.
	ReasonDeadlineExceeded = "DeadlineExceeded"
	// ReasonPlanTooLarge: the plan has more objects or bytes than allowed.
	ReasonPlanTooLarge = "PlanTooLarge"
)

// Budget limits what one pass of one owner may take, so that an owner costs the others at most one worker for one deadline.
// The zero value of a field means its default, a negative value no limit.
type Budget struct {
	// Deadline is how long a pass may take. Its context ends then, with an error that names the limit as its cause; a
	// phase that does not look at its context is not interrupted. Nothing is applied by a pass that is late; its status is
	// still written, and it is tried again with backoff. Default [DefaultDeadline].
	Deadline time.Duration
	// MaxChildren is how many objects a plan may have, children and deletions together. Of a larger plan nothing is
	// applied and nothing pruned; the error is InvalidSpec with reason [ReasonPlanTooLarge]. Default [DefaultMaxChildren].
	MaxChildren int
	// MaxBytes is how many bytes the texts, names and numbers of a plan may have together, about its size as JSON or
	// less. A larger plan is refused like one with too many objects. Default [DefaultMaxBytes].
	MaxBytes int
}

func (b Budget) orDefaults() Budget {
	if b.Deadline == 0 {
		b.Deadline = DefaultDeadline
	}
	if b.MaxChildren == 0 {
		b.MaxChildren = DefaultMaxChildren
	}
	if b.MaxBytes == 0 {
		b.MaxBytes = DefaultMaxBytes
	}
	return b
}

// deadlineError is the cause of the end of a context that a pass had to keep.
type deadlineError struct{ after time.Duration }

func (e *deadlineError) Error() string {
	return fmt.Sprintf("the pass took longer than its deadline of %s", e.after)
}

// Unwrap makes it what contexts end with.
func (*deadlineError) Unwrap() error { return context.DeadlineExceeded }

// limit returns the context of a pass.
func (b Budget) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if b.Deadline < 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, b.Deadline, &deadlineError{after: b.Deadline})
}

// late returns the error of a pass whose deadline is over, nil as long as it is not.
func late(ctx context.Context) error {
	var over *deadlineError
	if !errors.As(context.Cause(ctx), &over) {
		return nil
	}
	return health.NewError(health.Infrastructure, ReasonDeadlineExceeded,
		over.Error()+"; look for slow reads, or raise Budget.Deadline", over)
}

// toWriteStatus is the context in which the status is written: that of the pass, or a short one when the pass is late.
func toWriteStatus(ctx context.Context) (context.Context, context.CancelFunc) {
	if late(ctx) == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), statusTime)
}

// check reports a plan that is larger than allowed, with the limit and the kind that most of it is of.
func (b Budget) check(plan *PlanResult) error {
	if count := len(plan.Children) + len(plan.Deletes); b.MaxChildren > 0 && count > b.MaxChildren {
		return tooLarge("the plan has %d objects, at most %d are allowed (Budget.MaxChildren): %s", count, b.MaxChildren,
			most(plan, func(*apply.Child) int { return 1 }, ""))
	}
	if b.MaxBytes < 0 {
		return nil
	}
	total := 0
	if plan.Owner != nil {
		total += sizeOf(plan.Owner)
	}
	for i := range plan.Children {
		total += sizeOf(&plan.Children[i])
	}
	if total > b.MaxBytes {
		return tooLarge("the plan has %d bytes, at most %d are allowed (Budget.MaxBytes): %s", total, b.MaxBytes,
			most(plan, sizeOf, " bytes"))
	}
	return nil
}

func tooLarge(format string, args ...any) error {
	return health.NewError(health.InvalidSpec, ReasonPlanTooLarge, fmt.Sprintf(format, args...), nil)
}

// most reports how much each kind has of a plan, the three largest first.
func most(plan *PlanResult, size func(*apply.Child) int, unit string) string {
	sizes := map[string]int{}
	for i := range plan.Children {
		sizes[kindOf(&plan.Children[i])] += size(&plan.Children[i])
	}
	if unit == "" && len(plan.Deletes) > 0 {
		sizes["to delete"] = len(plan.Deletes)
	}
	kinds := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
		if sizes[a] != sizes[b] {
			return sizes[b] - sizes[a]
		}
		return strings.Compare(a, b)
	})
	const named = 3
	parts := make([]string, 0, named)
	for _, kind := range kinds[:min(named, len(kinds))] {
		parts = append(parts, fmt.Sprintf("%d%s %s", sizes[kind], unit, kind))
	}
	return strings.Join(parts, ", ")
}

// kindOf is the kind of a child as it says it, or the name of its Go type.
func kindOf(child *apply.Child) string {
	if child.Object == nil {
		return reflect.Indirect(reflect.ValueOf(child.Configuration)).Type().Name()
	}
	if gvk := child.Object.GetObjectKind().GroupVersionKind(); gvk != (schema.GroupVersionKind{}) {
		return gvk.Kind
	}
	return reflect.Indirect(reflect.ValueOf(child.Object)).Type().Name()
}

// sizeOf is the size of a child: of kinds of Kubernetes their encoded size, of others the sum of their texts.
func sizeOf(child *apply.Child) int {
	if sized, ok := child.Object.(interface{ Size() int }); ok {
		return sized.Size()
	}
	if child.Object != nil {
		return sizeOfValue(reflect.ValueOf(child.Object))
	}
	return sizeOfValue(reflect.ValueOf(child.Configuration))
}

func sizeOfValue(v reflect.Value) int {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return 0
		}
		return sizeOfValue(v.Elem())
	case reflect.String:
		return v.Len()
	case reflect.Struct:
		size := 0
		for i := range v.NumField() { //nolint:modernize // the iterator over fields allocates
			size += sizeOfValue(v.Field(i))
		}
		return size
	case reflect.Map:
		size := 0
		if texts, ok := textsOf(v); ok {
			for key, text := range texts {
				size += len(key) + len(text)
			}
			return size
		}
		for entries := v.MapRange(); entries.Next(); {
			size += sizeOfValue(entries.Key()) + sizeOfValue(entries.Value())
		}
		return size
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Len()
		}
		size := 0
		for i := range v.Len() {
			size += sizeOfValue(v.Index(i))
		}
		return size
	default:
		return 1
	}
}

// textsOf returns a map of texts, as labels are, which is looked at without an allocation for each entry.
func textsOf(v reflect.Value) (map[string]string, bool) {
	if v.Type() != reflect.TypeFor[map[string]string]() || !v.CanInterface() {
		return nil, false
	}
	texts, ok := v.Interface().(map[string]string)
	return texts, ok
}
