package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/managedfields"
)

// statusForm is how the status of a kind is written.
type statusForm int

const (
	// statusUnknown: nothing is known of its conditions yet.
	statusUnknown statusForm = iota
	// statusKeyed: conditions are a list with the key type, so that every
	// writer can own its own.
	statusKeyed
	// statusWhole: conditions are one value, which only a patch with a
	// resourceVersion changes safely.
	statusWhole
)

var errStatusOwner = errors.New("write status: before and after must be two states of one existing object")

// WriteStatus stores the status of after if it differs from that of before, in
// one request to the status subresource, and says whether it did. managed are
// the types of the conditions that this writer owns; those of others are in
// after as they were in before.
//
// Where the conditions are a list with the key type, it is a server-side apply
// of what this writer owns and changes. Elsewhere, and as long as that is not
// known, it is a merge patch of what has changed, with the resourceVersion of
// after: a conflict, see [apierrors.IsConflict], means that somebody else has
// written since and nothing is stored. After a write, after has the metadata
// of the stored object.
//
// [apierrors.IsConflict]: https://pkg.go.dev/k8s.io/apimachinery/pkg/api/errors#IsConflict
func (e *Engine) WriteStatus(ctx context.Context, before, after client.Object, managed []string) (written bool, err error) {
	if equalStatus(before, after) {
		return false, nil
	}
	if after.GetUID() == "" || before.GetUID() != after.GetUID() {
		return false, errStatusOwner
	}
	k, err := e.kinds.ofObject(after)
	if err != nil {
		return false, fmt.Errorf("write status: %w", err)
	}
	w := &statusWrite{engine: e, kind: k, after: after, managed: managed}
	if w.before, err = e.statusOf(before); err != nil {
		return false, err
	}
	if w.status, err = e.statusOf(after); err != nil {
		return false, err
	}
	if reflect.DeepEqual(w.before, w.status) {
		return false, nil
	}
	if err := w.write(ctx, before); err != nil {
		return false, fmt.Errorf("write status of %s: %w", applyset.ObjectName(k.gvk.Kind, after.GetNamespace(), after.GetName()), err)
	}
	return true, nil
}

// equalStatus compares without encoding, where the Go type has a Status.
func equalStatus(o, changed client.Object) bool {
	if reflect.TypeOf(o) != reflect.TypeOf(changed) {
		return false
	}
	if _, ok := o.(runtime.Unstructured); ok {
		return false
	}
	b := reflect.Indirect(reflect.ValueOf(o)).FieldByName("Status")
	a := reflect.Indirect(reflect.ValueOf(changed)).FieldByName("Status")
	if !b.IsValid() || !a.IsValid() || !b.CanAddr() {
		return false
	}
	before, after := b.Addr().Interface(), a.Addr().Interface()
	return reflect.DeepEqual(before, after) || equality.Semantic.DeepEqual(before, after) // the first is the faster one
}

func (e *Engine) statusOf(o client.Object) (map[string]any, error) {
	content, err := e.encoder.Live(o)
	if err != nil {
		return nil, fmt.Errorf("write status: encode: %w", err)
	}
	status, _ := content["status"].(map[string]any)
	if status == nil {
		status = map[string]any{}
	}
	return status, nil
}

// statusWrite is one write of a status.
type statusWrite struct {
	engine         *Engine
	kind           *kind
	after          client.Object
	managed        []string
	before, status map[string]any
}

func (w *statusWrite) write(ctx context.Context, before client.Object) error {
	var data []byte
	var err error
	patch := types.MergePatchType
	opts := []client.SubResourcePatchOption{client.FieldOwner(w.engine.opts.FieldManager)}
	set, form := w.form(before)
	if form == statusKeyed {
		patch = types.ApplyPatchType
		opts = append(opts, client.ForceOwnership)
		data, err = w.applyBody(set)
	} else {
		data, err = w.mergeBody()
	}
	if err != nil {
		return err
	}
	answer := w.kind.newObject()
	answer.SetName(w.after.GetName())
	answer.SetNamespace(w.after.GetNamespace())
	if err := w.engine.client.Status().Patch(ctx, answer, client.RawPatch(patch, data), opts...); err != nil {
		return err
	}
	w.learn(answer)
	w.after.SetResourceVersion(answer.GetResourceVersion())
	w.after.SetManagedFields(answer.GetManagedFields())
	w.after.SetGeneration(answer.GetGeneration())
	return nil
}

// form decides how to write, and returns the fields that this writer has
// applied so far. An object whose status it has written by patch stays with
// patches, as two entries of one writer would contest each other.
func (w *statusWrite) form(o client.Object) (*managedfields.Set, statusForm) {
	own := &managedfields.Set{}
	form := statusUnknown
	if known, ok := w.engine.statuses.Load(w.kind.gvk.GroupKind()); ok {
		form, _ = known.(statusForm)
	}
	for _, e := range o.GetManagedFields() {
		if e.FieldsV1 == nil || e.Subresource != "status" {
			continue
		}
		set, err := managedfields.Parse(e.FieldsV1.GetRawBytes())
		if err != nil {
			continue
		}
		if seen := conditionsForm(set); seen != statusUnknown {
			form = seen
		}
		if e.Manager != w.engine.opts.FieldManager {
			continue
		}
		if e.Operation != metav1.ManagedFieldsOperationApply {
			return nil, statusWhole
		}
		own = set
	}
	if form == statusUnknown && len(list(w.before["conditions"])) == 0 && len(list(w.status["conditions"])) > 0 {
		// Nobody has conditions to lose: apply, and learn from the answer.
		form = statusKeyed
	}
	return own, form
}

func list(x any) []any {
	l, _ := x.([]any)
	return l
}

// conditionsForm is the form of the conditions in a field set.
func conditionsForm(set *managedfields.Set) statusForm {
	status := set.Field("status")
	if status == nil {
		return statusUnknown
	}
	conditions := status.Field("conditions")
	switch {
	case conditions == nil:
		return statusUnknown
	case len(conditions.Items) > 0 && conditions.Items[0].Keys != nil:
		if _, keyed := conditions.Items[0].Keys["type"]; keyed {
			return statusKeyed
		}
	}
	return statusWhole
}

func (w *statusWrite) learn(answer client.Object) {
	for _, e := range answer.GetManagedFields() {
		if e.FieldsV1 == nil || e.Subresource != "status" {
			continue
		}
		if set, err := managedfields.Parse(e.FieldsV1.GetRawBytes()); err == nil {
			if form := conditionsForm(set); form != statusUnknown {
				w.engine.statuses.Store(w.kind.gvk.GroupKind(), form)
				return
			}
		}
	}
}

// applyBody has what this writer owns already and what it changes; fields and
// conditions of other writers are left out.
func (w *statusWrite) applyBody(own *managedfields.Set) ([]byte, error) {
	status := map[string]any{}
	mine := own.Field("status")
	for name, value := range w.status {
		if name == "conditions" {
			continue
		}
		if !reflect.DeepEqual(value, w.before[name]) || (mine != nil && mine.Field(name) != nil) {
			status[name] = value
		}
	}
	var conditions []any
	for _, c := range list(w.status["conditions"]) {
		if m, ok := c.(map[string]any); ok && slices.ContainsFunc(w.managed, func(t string) bool { return m["type"] == t }) {
			conditions = append(conditions, c)
		}
	}
	if len(conditions) > 0 {
		status["conditions"] = conditions
	}
	key := client.ObjectKeyFromObject(w.after)
	return content.Body(map[string]any{"status": status}, w.kind.gvk, key, w.after.GetUID())
}

// mergeBody has what has changed, and the version it has changed from.
func (w *statusWrite) mergeBody() ([]byte, error) {
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": w.version(), "uid": w.after.GetUID()},
		"status":   mergePatch(w.before, w.status),
	})
}

// version is that of after, or the one that our own write of the metadata has
// made of it.
func (w *statusWrite) version() string {
	w.engine.memory.mu.Lock()
	o := w.engine.memory.owners[w.after.GetUID()]
	w.engine.memory.mu.Unlock()
	version := w.after.GetResourceVersion()
	if o != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.metadata.replaced == version && version != "" {
			return o.metadata.written
		}
	}
	return version
}

// mergePatch is the RFC 7396 patch from one map to another. Fields whose
// values are equal are left to their owners.
func mergePatch(from, to map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range to {
		old, exists := from[name]
		if exists && reflect.DeepEqual(old, value) {
			continue
		}
		oldMap, ok := old.(map[string]any)
		newMap, isMap := value.(map[string]any)
		if ok && isMap {
			out[name] = mergePatch(oldMap, newMap)
			continue
		}
		out[name] = value
	}
	for name := range from {
		if _, kept := to[name]; !kept {
			out[name] = nil
		}
	}
	return out
}
