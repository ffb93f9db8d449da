package engine

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// recreation is the information about an object after the API server has refused to change it.
type recreation struct {
	// kind is the kind of the object; guarded reports that it is one of [apply.Options.GuardedKinds].
	kind    schema.GroupKind
	guarded bool
	// fields are the fields that the refusal names, empty if it names none.
	fields []string
	// live is the object, plan the intent, and fresh the object that the API server would create from the intent, nil if unknown.
	live, plan, fresh map[string]any
	// own are the engine's fields in live.
	own *fieldset.Set
	// once are the fields that are sent once.
	once []fieldset.Path
	// policy is the planned deletion propagation, empty for the default.
	policy metav1.DeletionPropagation
}

// recreationVerdict is the decision about a recreation.
type recreationVerdict struct {
	// helps reports that a new object would differ from the live one in a refused field.
	helps bool
	// propagation is the deletion propagation. Empty is [apply.Options.Propagation].
	propagation metav1.DeletionPropagation
	// loses describes the loss, empty for none.
	loses string
}

// decide returns the decision about a recreation.
func (r recreation) decide() recreationVerdict {
	v := recreationVerdict{helps: r.helps(), propagation: r.propagation()}
	v.loses = r.loses(v.propagation)
	return v
}

// helps reports whether a new object would have another value in a refused field. It would not if an admission policy sets the value on
// each create.
func (r recreation) helps() bool {
	fresh := r.fresh
	if fresh == nil {
		fresh = r.plan
	}
	fields := slices.DeleteFunc(slices.Clone(r.fields), func(f string) bool { return f == "" || strings.HasPrefix(f, "metadata") })
	if len(fields) == 0 {
		for name := range r.plan {
			if name != "metadata" && name != "apiVersion" && name != "kind" {
				fields = append(fields, name)
			}
		}
	}
	return slices.ContainsFunc(fields, func(f string) bool {
		live, _ := valueAt(r.live, f)
		want, _ := valueAt(fresh, f)
		plan, _ := valueAt(r.plan, f)
		return differ(live, want, plan, ownAt(r.own, f))
	})
}

// ownAt returns the owned fields at a field that a refusal names, nil for none.
func ownAt(own *fieldset.Set, field string) *fieldset.Set {
	path, err := fieldset.ParsePath(field)
	if err != nil || own == nil {
		return nil
	}
	return path.Below(own)
}

// differ reports whether two values differ in planned or owned fields. If nothing is owned, fields that only the live value has count as
// well.
func differ(live, fresh, plan any, own *fieldset.Set) bool {
	have, isMap := live.(map[string]any)
	want, isAlso := fresh.(map[string]any)
	if isMap && isAlso && (own == nil || !own.Leaf()) {
		planned, _ := plan.(map[string]any)
		for name, value := range have {
			next, isPlanned := planned[name]
			other, isFresh := want[name]
			switch below := fieldOf(own, name); {
			case isPlanned || below != nil:
				if differ(value, other, next, below) {
					return true
				}
			case own == nil && !isFresh:
				return true
			}
		}
		for name := range planned {
			if _, ok := have[name]; !ok && want[name] != nil {
				return true
			}
		}
		return false
	}
	haveItems, isList := live.([]any)
	wantItems, isAlso := fresh.([]any)
	planned, _ := plan.([]any)
	if isList && isAlso && len(haveItems) == len(wantItems) && len(planned) <= len(haveItems) {
		for i := range planned {
			if differ(haveItems[i], wantItems[i], planned[i], nil) {
				return true
			}
		}
		return false
	}
	return !equality.Semantic.DeepEqual(live, fresh)
}

// propagation returns the deletion propagation: dependents of a workload whose selector stays the same are orphaned, so that the new
// object adopts them.
func (r recreation) propagation() metav1.DeletionPropagation {
	if r.policy != "" {
		return r.policy
	}
	selects := func(content map[string]any) any {
		selector, _, _ := unstructured.NestedMap(content, "spec", "selector")
		if selector["matchLabels"] == nil && selector["matchExpressions"] == nil {
			return nil
		}
		return selector
	}
	fresh := r.fresh
	if fresh == nil {
		fresh = r.plan
	}
	if live := selects(r.live); live != nil && selects(r.plan) != nil && equality.Semantic.DeepEqual(live, selects(fresh)) {
		return metav1.DeletePropagationOrphan
	}
	return ""
}

// loses describes what a new object does not restore. The work of a Job or a Pod is repeated from the plan.
func (r recreation) loses(policy metav1.DeletionPropagation) string {
	switch r.kind {
	case schema.GroupKind{Kind: "Pod"}, schema.GroupKind{Group: "batch", Kind: "Job"}:
	case schema.GroupKind{Group: "apps", Kind: "StatefulSet"}:
		templates, _, _ := unstructured.NestedSlice(r.live, "spec", "volumeClaimTemplates")
		when, _, _ := unstructured.NestedString(r.live, "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
		if len(templates) > 0 && when == "Delete" && policy != metav1.DeletePropagationOrphan {
			return "its claims are deleted with it"
		}
	default:
		if r.guarded {
			return "objects of this kind hold data"
		}
	}
	for _, path := range r.once {
		if _, exists := path.Lookup(r.live); exists {
			return fmt.Sprintf("%s is set once", path)
		}
	}
	return ""
}

// recreateChild deletes an object that cannot be changed as planned, pinned to a version in which it belongs to the owner. The
// reconciliation that the deletion triggers creates the new object.
func recreateChild(p *pass, c *child, refusal error) { //nolint:funlen // one step after the other
	created, err := createDryRun(p, c)
	switch {
	case err != nil && apierrors.IsInvalid(err):
		failWithBackoff(p, c, apply.OutcomeFailed, refusal) // the plan is invalid for a new object, too
		return
	case err != nil:
		failWithBackoff(p, c, apply.OutcomeFailed, fmt.Errorf("recreate: the API server does not accept the new object: %w", err))
		return
	}
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(c.kind.GVK)
	if err := p.env.live.Get(p.ctx, c.id.Key, found); err != nil {
		c.failed(apply.OutcomeFailed, fmt.Errorf("delete to recreate: %w", err))
		return
	}
	switch {
	case found.GetUID() != c.uid:
		c.failed(apply.OutcomeFailed, fmt.Errorf("delete to recreate: %w", errReplaced))
		return
	case p.optedOut(found):
		c.result.Outcome, c.result.Reason = apply.OutcomeOptedOut, apply.ReasonOptedOut
		return
	case !stillOwned(p, c, found):
		return
	}
	observed, err := fieldset.Observe(p.env.encoder, found, c.manager)
	if err != nil {
		c.failed(apply.OutcomeFailed, fmt.Errorf("delete to recreate: %w", err))
		return
	}
	r := recreation{
		kind: c.id.GroupKind, guarded: p.env.holdsData(c.id.GroupKind), live: observed.Content, plan: c.content, fresh: created,
		own: observed.Own.Set, policy: c.planned.RecreatePropagation,
	}
	for _, cause := range causesOf(refusal) {
		r.fields = append(r.fields, cause.Field)
	}
	for i := range c.rules {
		if c.rules[i].Policy == apply.FieldCreateOnly {
			r.once = append(r.once, c.rules[i].Path)
		}
	}
	v := r.decide()
	if !v.helps {
		failWithBackoff(p, c, apply.OutcomeFailed, fmt.Errorf("a new object would have the same values in the refused fields, so it is not recreated: %w", refusal))
		return
	}
	if v.loses != "" {
		blocked := &apply.RecreateBlockedError{
			Loses: v.loses, Annotation: p.keys.AllowPrune, Token: p.recreateToken(c.id, c.uid), OnChild: p.group != nil, Cause: refusal,
		}
		allowed := p.allowPrune
		if p.group != nil {
			allowed = found.GetAnnotations()[p.keys.AllowPrune]
		}
		if allowed != blocked.Token {
			failWithBackoff(p, c, apply.OutcomeFailed, blocked)
			return
		}
	}
	if times, rest := c.memory.Recreated(c.hash, p.now, p.env.options.ContestInterval); rest > 0 {
		failWithBackoff(p, c, apply.OutcomeFailed, fmt.Errorf("it was recreated %d times for the same plan; the next time is in %s: %w", times, rest, refusal))
		return
	}
	if err := p.env.deleteExactly(p.ctx, c.kind.GVK, c.id.Key, c.uid, found.GetResourceVersion(), v.propagation); err != nil {
		c.failed(apply.OutcomeFailed, fmt.Errorf("delete to recreate: %w", err))
		return
	}
	c.result.Verb, c.result.Outcome, c.result.Err = apply.VerbDelete, apply.OutcomeDeleted, nil
	c.result.Unobserved = true
	c.memory.NoteRecreated(c.hash, p.now)
	c.memory.NoteDeleted(c.uid, p.now)
	c.requeue = confirmAfter
}
