package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/internal/mergepatch"
)

// form is the request type for the status of a kind.
type form int

const (
	// unknown: the type of the conditions is not known yet.
	unknown form = iota
	// keyed: conditions are a map list with the key type, so that every writer can own conditions.
	keyed
	// whole: conditions are one value; only a patch with a resourceVersion changes it safely.
	whole
)

// write is one write of a status.
type write struct {
	writer        *Writer
	gvk           schema.GroupVersionKind
	before, after client.Object
	managed       []string
	from, to      map[string]any // the status before and after
}

func (r *write) name() string {
	name := r.gvk.Kind + " "
	if namespace := r.after.GetNamespace(); namespace != "" {
		name += namespace + "/"
	}
	return name + r.after.GetName()
}

// run decides the status and sends it, unless it is stored already or was sent in vain.
func (r *write) run(ctx context.Context) (written bool, err error) {
	o := r.writer.ownership(r.before.GetManagedFields())
	d := decide(r.from, r.to, o, r.form(o), r.managed)
	if reflect.DeepEqual(r.from, d.target) {
		return false, nil
	}
	now := r.writer.opts.Clock.Now()
	patch := mergepatch.Diff(r.from, d.target)
	if held, contested := r.writer.attempts.holds(r.after, patch, now); held {
		if contested {
			log.FromContext(ctx).Info("the status is left as it is for a while: another writer undoes each write of it",
				"fields", slices.Sorted(maps.Keys(patch)))
		}
		return false, nil
	}
	answer, err := r.send(ctx, d, o)
	if err != nil {
		return false, r.explain(ctx, err)
	}
	r.after.SetResourceVersion(answer.GetResourceVersion())
	r.after.SetManagedFields(answer.GetManagedFields())
	r.after.SetGeneration(answer.GetGeneration())
	stored, err := contentOf(answer)
	if err != nil {
		return false, err
	}
	o = r.writer.ownership(answer.GetManagedFields())
	if f := conditionsForm(o); f != unknown {
		r.writer.forms.Store(r.gvk.GroupKind(), f)
	}
	missing := mergepatch.Diff(stored, decide(stored, r.to, o, r.form(o), r.managed).target)
	if r.writer.attempts.note(r.after, patch, missing, now) {
		log.FromContext(ctx).Info("the API server did not store all of the status: is its CRD older than the Go type?",
			"fields", slices.Sorted(maps.Keys(missing)))
	}
	return answer.GetResourceVersion() != r.before.GetResourceVersion(), nil
}

// send stores the target and returns the object in the API server's response.
func (r *write) send(ctx context.Context, d *decision, o ownership) (client.Object, error) {
	opts := []client.SubResourcePatchOption{client.FieldOwner(r.writer.opts.FieldManager)}
	patch := types.MergePatchType
	metadata := map[string]any{"uid": r.after.GetUID()}
	body := map[string]any{"metadata": metadata}
	if d.form == keyed && !d.patched {
		patch = types.ApplyPatchType
		opts = append(opts, client.ForceOwnership)
		body["apiVersion"], body["kind"] = r.gvk.ToAPIVersionAndKind()
		metadata["name"] = r.after.GetName()
		if namespace := r.after.GetNamespace(); namespace != "" {
			metadata["namespace"] = namespace
		}
		body["status"] = d.appliedStatus(r.from, r.to, o.root)
	} else {
		metadata["resourceVersion"] = r.after.GetResourceVersion()
		body["status"] = mergepatch.Diff(r.from, d.target)
	}
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	answer := newObject(r.after, r.gvk)
	return answer, r.writer.client.Status().Patch(ctx, answer, client.RawPatch(patch, data), opts...)
}

// form selects the request type.
func (r *write) form(o ownership) form {
	if f := conditionsForm(o); f != unknown {
		return f
	}
	if known, ok := r.writer.forms.Load(r.gvk.GroupKind()); ok {
		return known.(form) //nolint:forcetypeassert // only a form is stored
	}
	if len(list(r.from[conditionsField])) == 0 && len(list(r.to[conditionsField])) > 0 {
		return keyed // no writer has conditions to lose: apply, and learn from the response
	}
	return unknown
}

// conditionsForm returns the type of the conditions by managedFields.
func conditionsForm(o ownership) form {
	conditions := o.root.field(conditionsField)
	switch {
	case slices.Equal(conditions.keys(), []string{"type"}):
		return keyed
	case conditions.applied.any() || conditions.former.any() || conditions.others.any():
		return whole
	}
	return unknown
}

// NoSubresourceError reports that a kind has no status subresource, which is required to store a status.
type NoSubresourceError struct {
	// GVK is the kind.
	GVK schema.GroupVersionKind
	// Err is the error of the API server.
	Err error
}

// Error names the kind and the missing subresource.
func (e *NoSubresourceError) Error() string {
	return fmt.Sprintf("%s has no status subresource: add \"subresources: {status: {}}\" to version %s of its CustomResourceDefinition",
		e.GVK.GroupKind(), e.GVK.Version)
}

// Unwrap returns the error of the API server.
func (e *NoSubresourceError) Unwrap() error { return e.Err }

// explain distinguishes a missing subresource from a missing object: the API server answers both with 404.
func (r *write) explain(ctx context.Context, err error) error {
	if !apierrors.IsNotFound(err) {
		return err
	}
	live := newObject(r.after, r.gvk)
	if readErr := r.writer.live.Get(ctx, client.ObjectKeyFromObject(r.after), live); readErr != nil {
		if apierrors.IsNotFound(readErr) {
			return err
		}
		return errors.Join(err, readErr)
	}
	if live.GetUID() != r.after.GetUID() {
		return err
	}
	return &NoSubresourceError{GVK: r.gvk, Err: err}
}

// WriteStatus stores the status of after if it differs from that of before, in one request to the status subresource, and reports whether
// the stored object has changed. managed are the types of the conditions that this writer sets. after must contain the conditions of
// other writers unchanged.
//
// A field that after sets is stored, regardless of its manager. A field that after omits is removed if this writer, a former manager or
// no manager owns it; fields of other managers are kept. A change that the API server accepts but does not store, such as a field that is
// missing in the CRD, is not sent again for five minutes. The same applies to a change that another writer has reverted five times in
// five minutes.
//
// If the conditions are a map list with the key type, the request is a server-side apply of the fields that this writer owns and changes.
// If they are not, if that is not known yet, or if an apply cannot remove a field, it is a merge patch of the changes with the
// resourceVersion of after. A conflict, see [apierrors.IsConflict], means that another client has written since and nothing is stored.
// After a write, after has the metadata of the stored object. The error is a [NoSubresourceError] if the kind has no status subresource.
//
// [apierrors.IsConflict]: https://pkg.go.dev/k8s.io/apimachinery/pkg/api/errors#IsConflict
func (w *Writer) WriteStatus(ctx context.Context, before, after client.Object, managed []string) (written bool, err error) {
	if equalStatus(before, after) {
		return false, nil
	}
	if after.GetUID() == "" || before.GetUID() != after.GetUID() {
		return false, errStatusOwner
	}
	r := &write{writer: w, before: before, after: after, managed: managed}
	if r.gvk, err = w.client.GroupVersionKindFor(after); err != nil {
		return false, fmt.Errorf("write status: kind of %T: %w", after, err)
	}
	if r.from, err = contentOf(before); err != nil {
		return false, fmt.Errorf("write status: %w", err)
	}
	if r.to, err = contentOf(after); err != nil {
		return false, fmt.Errorf("write status: %w", err)
	}
	if reflect.DeepEqual(r.from, r.to) {
		return false, nil
	}
	if written, err = r.run(ctx); err != nil {
		return false, fmt.Errorf("write status of %s: %w", r.name(), err)
	}
	return written, nil
}
