package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// conflict is one field of a 409 to an apply.
type conflict struct {
	apply.ContestedField
	// update reports that the other manager wrote by update, not by apply.
	update bool
}

// conflicts reads the fields of a 409. The server has them as causes with a
// message like: conflict with "kubectl-edit" using apps/v1.
func conflicts(err error) []conflict {
	var status apierrors.APIStatus
	if !asStatus(err, &status) || status.Status().Details == nil {
		return nil
	}
	var out []conflict
	for _, cause := range status.Status().Details.Causes {
		if cause.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		_, rest, _ := strings.Cut(cause.Message, `"`)
		manager, rest, _ := strings.Cut(rest, `"`)
		out = append(out, conflict{
			ContestedField: apply.ContestedField{Path: cause.Field, Manager: manager},
			update:         strings.Contains(rest, " using "),
		})
	}
	slices.SortFunc(out, func(a, b conflict) int {
		return strings.Compare(a.Path+"\x00"+a.Manager, b.Path+"\x00"+b.Manager)
	})
	return out
}

// refused turns the error of a request into the outcome of the child, and
// remembers errors that the same request would meet again.
func (p *pass) refused(c *planned, err error) {
	c.memory.Proven = false
	switch {
	case isSecondController(err):
		p.ownedByAnother(c, err)
	case apierrors.IsInvalid(err) && c.child.Recreate && c.uid != "" && p.creatable(c):
		p.recreate(c)
	case apierrors.IsInvalid(err):
		p.trouble(c, apply.Failed, err)
	default:
		if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
			c.memory.UID = "" // replaced or gone: look again
			c.memory.Shown()
		}
		c.failed(apply.Failed, err)
	}
}

// isSecondController recognises the refusal of a second controller reference,
// which is a conflict about the object, not an invalid intent.
func isSecondController(err error) bool {
	return apierrors.IsInvalid(err) && hasCause(err, func(c metav1.StatusCause) bool {
		return c.Field == "metadata.ownerReferences" && strings.Contains(c.Message, "Only one reference can have Controller set to true")
	})
}

// creatable reports whether the API server would accept the intent for a new
// object, which the update of the existing one is not: its validation of a
// create, by dry run, comes before it finds that the name is taken. So a
// refused change of whatever kind is known as one of a field that cannot
// change without knowing what that kind says about it.
func (p *pass) creatable(c *planned) bool {
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(c.content)}
	u.SetGroupVersionKind(c.kind.GVK)
	u.SetName(c.id.Key.Name)
	u.SetNamespace(c.id.Key.Namespace)
	err := p.engine.client.Create(p.ctx, u, client.FieldOwner(c.manager), client.DryRunAll)
	return err == nil || apierrors.IsAlreadyExists(err) || p.collidesWithItself(c, err)
}

// collidesWithItself reports whether all that speaks against the new object
// are values that the existing one has, such as the port of a node, which it
// gives back when it goes.
func (p *pass) collidesWithItself(c *planned, err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || c.live == nil || !asStatus(err, &status) || status.Status().Details == nil {
		return false
	}
	live, encodeErr := p.engine.encoder.Live(c.live)
	if encodeErr != nil {
		return false
	}
	causes := status.Status().Details.Causes
	return len(causes) > 0 && !slices.ContainsFunc(causes, func(cause metav1.StatusCause) bool {
		want, planned := valueAt(c.content, cause.Field)
		have, exists := valueAt(live, cause.Field)
		return !planned || !exists || !equality.Semantic.DeepEqual(want, have)
	})
}

// valueAt looks up a field as the causes of a refusal name it,
// "spec.ports[0].nodePort".
func valueAt(content any, field string) (any, bool) {
	for part := range strings.SplitSeq(field, ".") {
		name, rest, _ := strings.Cut(part, "[")
		m, ok := content.(map[string]any)
		if !ok {
			return nil, false
		}
		if content, ok = m[name]; !ok {
			return nil, false
		}
		for rest != "" {
			var index string
			index, rest, _ = strings.Cut(rest, "]")
			rest = strings.TrimPrefix(rest, "[")
			list, ok := content.([]any)
			i, err := strconv.Atoi(index)
			if !ok || err != nil || i < 0 || i >= len(list) {
				return nil, false
			}
			content = list[i]
		}
	}
	return content, true
}

func hasCause(err error, is func(metav1.StatusCause) bool) bool {
	var status apierrors.APIStatus
	if !asStatus(err, &status) {
		return false
	}
	s := status.Status()
	if s.Details == nil {
		return false
	}
	return slices.ContainsFunc(s.Details.Causes, is)
}

// ownedByAnother names the controller that the server did not name.
func (p *pass) ownedByAnother(c *planned, cause error) {
	found, err := p.liveMetadata(c.kind.GVK, c.id.Key)
	if err != nil || found == nil {
		c.failed(apply.Failed, cause)
		return
	}
	if p.checkOwner(c, found) {
		c.failed(apply.Failed, fmt.Errorf("look again: %w", cause)) // changed hands meanwhile
		return
	}
	p.trouble(c, apply.Failed, c.result.Err)
}

// recreate deletes an object that cannot be changed as planned. It comes back
// on the pass that its disappearance causes.
func (p *pass) recreate(c *planned) {
	if err := p.engine.deleteExactly(p.ctx, c.kind.GVK, c.id.Key, c.uid, "", ""); err != nil {
		c.failed(apply.Failed, fmt.Errorf("delete to recreate: %w", err))
		return
	}
	c.result.Verb, c.result.Outcome, c.result.Err = apply.VerbDelete, apply.Deleted, nil
	c.memory.NoteDeleted(c.uid, p.now)
	c.requeue = confirmAfter
}

// trouble fails the child and remembers why.
func (p *pass) trouble(c *planned, outcome apply.Outcome, err error) {
	c.failed(outcome, err)
	t := c.memory.Failure
	if t == nil {
		t = &memory.Failure{}
		c.memory.Failure = t
	}
	if t.Err == nil || t.Intent != c.hash {
		t.Count = 0
	}
	t.Outcome, t.Err, t.Intent, t.UID, t.Others, t.Version = outcome, err, c.hash, "", 0, ""
	if c.live != nil {
		t.Version = c.live.GetResourceVersion()
		t.UID, t.Others = c.live.GetUID(), others(p.engine.hasher, c)
	}
	wait := memory.Backoff(t.Count, p.engine.opts.ContestInterval)
	t.Until = p.now.Add(wait)
	t.Count++
	c.requeue = wait
}

func typesUID(uid string) types.UID { return types.UID(uid) }

// deleteExactly deletes an object with this UID, and in this version if one is
// given. An object that is gone, or replaced, is no error: it does not exist.
func (e *env) deleteExactly(
	ctx context.Context, gvk schema.GroupVersionKind, key types.NamespacedName, uid types.UID, version string,
	propagation metav1.DeletionPropagation,
) error {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(gvk)
	o.Name, o.Namespace = key.Name, key.Namespace
	pre := client.Preconditions{UID: &uid}
	if version != "" {
		pre.ResourceVersion = &version
	}
	if propagation == "" {
		propagation = e.opts.Propagation
	}
	err := e.client.Delete(ctx, o, pre, client.PropagationPolicy(propagation))
	return client.IgnoreNotFound(err)
}

func asStatus(err error, status *apierrors.APIStatus) bool { return errors.As(err, status) }

func resourceOf(gvk schema.GroupVersionKind) schema.GroupResource {
	return schema.GroupResource{Group: gvk.Group, Resource: strings.ToLower(gvk.Kind)}
}
