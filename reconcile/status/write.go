package status

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/reconcilekit/reconcilekit/internal/mergepatch"
)

// form is how the status of a kind is written.
type form int

const (
	// unknown: nothing is known of its conditions yet.
	unknown form = iota
	// keyed: conditions are a list with the key type, so that every writer can own its own.
	keyed
	// whole: conditions are one value, which only a patch with a resourceVersion changes safely.
	whole
)

// write is one write of a status.
type write struct {
	writer        *Writer
	gvk           schema.GroupVersionKind
	before, after client.Object
	managed       []string
	from, to      map[string]any // the status of before and after
}

func (r *write) name() string {
	if r.after.GetNamespace() == "" {
		return r.after.GetName()
	}
	return r.after.GetNamespace() + "/" + r.after.GetName()
}

func (r *write) send(ctx context.Context) error {
	var data []byte
	var err error
	patch := types.MergePatchType
	opts := []client.SubResourcePatchOption{client.FieldOwner(r.writer.opts.FieldManager)}
	own, form := r.form()
	if form == keyed {
		patch = types.ApplyPatchType
		opts = append(opts, client.ForceOwnership)
		data, err = r.applyBody(own)
	} else {
		data, err = r.mergeBody()
	}
	if err != nil {
		return err
	}
	answer := newObject(r.after, r.gvk)
	if err := r.writer.client.Status().Patch(ctx, answer, client.RawPatch(patch, data), opts...); err != nil {
		return err
	}
	r.learn(answer)
	r.after.SetResourceVersion(answer.GetResourceVersion())
	r.after.SetManagedFields(answer.GetManagedFields())
	r.after.SetGeneration(answer.GetGeneration())
	return nil
}

// form decides how to write, and returns the fields that this writer has applied so far. An object whose status it has written
// by patch stays with patches, as two entries of one writer would contest each other.
func (r *write) form() (*fieldpath.Set, form) {
	own := fieldpath.NewSet()
	f := unknown
	if known, ok := r.writer.forms.Load(r.gvk.GroupKind()); ok {
		f, _ = known.(form)
	}
	for _, e := range r.before.GetManagedFields() {
		set := statusFields(&e)
		if set == nil {
			continue
		}
		if seen := conditionsForm(set); seen != unknown {
			f = seen
		}
		if e.Manager != r.writer.opts.FieldManager {
			continue
		}
		if e.Operation != metav1.ManagedFieldsOperationApply {
			return nil, whole
		}
		own = set
	}
	if f == unknown && len(list(r.from["conditions"])) == 0 && len(list(r.to["conditions"])) > 0 {
		// Nobody has conditions to lose: apply, and learn from the answer.
		f = keyed
	}
	return own, f
}

func list(x any) []any {
	l, _ := x.([]any)
	return l
}

// statusFields are the fields below status of an entry about the status, nil if there are none.
func statusFields(e *metav1.ManagedFieldsEntry) *fieldpath.Set {
	if e.FieldsV1 == nil || e.Subresource != "status" {
		return nil
	}
	set := fieldpath.NewSet()
	if err := set.FromJSON(e.FieldsV1.GetRawReader()); err != nil {
		return nil
	}
	status, ok := set.Children.Get(fieldElement("status"))
	if !ok {
		return nil
	}
	return status
}

func fieldElement(name string) fieldpath.PathElement { return fieldpath.PathElement{FieldName: &name} }

// conditionsForm is the form of the conditions in a field set.
func conditionsForm(status *fieldpath.Set) form {
	element := fieldElement("conditions")
	conditions, below := status.Children.Get(element)
	f := unknown
	if below {
		conditions.Iterate(func(p fieldpath.Path) {
			if f == unknown && p[0].Key != nil && len(*p[0].Key) == 1 && (*p[0].Key)[0].Name == "type" {
				f = keyed
			}
		})
	}
	if f == unknown && (below || status.Members.Has(element)) {
		return whole
	}
	return f
}

func (r *write) learn(answer client.Object) {
	for _, e := range answer.GetManagedFields() {
		if set := statusFields(&e); set != nil {
			if f := conditionsForm(set); f != unknown {
				r.writer.forms.Store(r.gvk.GroupKind(), f)
				return
			}
		}
	}
}

// applyBody has what this writer owns already and what it changes; fields and conditions of other writers are left out.
func (r *write) applyBody(own *fieldpath.Set) ([]byte, error) {
	status := map[string]any{}
	for name, value := range r.to {
		if name == "conditions" {
			continue
		}
		_, below := own.Children.Get(fieldElement(name))
		if !reflect.DeepEqual(value, r.from[name]) || below || own.Members.Has(fieldElement(name)) {
			status[name] = value
		}
	}
	var conditions []any
	for _, c := range list(r.to["conditions"]) {
		if m, ok := c.(map[string]any); ok && slices.ContainsFunc(r.managed, func(t string) bool { return m["type"] == t }) {
			conditions = append(conditions, c)
		}
	}
	if len(conditions) > 0 {
		status["conditions"] = conditions
	}
	metadata := map[string]any{"name": r.after.GetName(), "uid": r.after.GetUID()}
	if namespace := r.after.GetNamespace(); namespace != "" {
		metadata["namespace"] = namespace
	}
	version, kind := r.gvk.ToAPIVersionAndKind()
	return json.Marshal(map[string]any{"apiVersion": version, "kind": kind, "metadata": metadata, "status": status})
}

// mergeBody has what has changed, and the version it has changed from.
func (r *write) mergeBody() ([]byte, error) {
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": r.after.GetResourceVersion(), "uid": r.after.GetUID()},
		"status":   mergepatch.Diff(r.from, r.to),
	})
}
