package write

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
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/ownership"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// recreation is what is known about an object when the API server has refused
// to change it.
type recreation struct {
	// Kind is the kind of the object, Guarded reports that it is one of
	// [apply.Options.GuardedKinds].
	Kind    schema.GroupKind
	Guarded bool
	// Fields are the fields that the refusal names, empty if it names none.
	Fields []string
	// Live is the object, Plan the intent, Fresh what the API server would create
	// from the intent. Fresh is nil if it is not known.
	Live, Plan, Fresh map[string]any
	// Own are the fields of the engine in Live.
	Own *fieldset.Set
	// Once are the fields that are sent once.
	Once []fieldset.Path
	// Policy is the propagation of the plan, empty for the default.
	Policy metav1.DeletionPropagation
}

// verdict is the decision about a recreation.
type verdict struct {
	// Helps reports that a new object would differ from the live one in a refused field.
	Helps bool
	// Propagation is what happens to the dependents. Empty is [apply.Options.Propagation].
	Propagation metav1.DeletionPropagation
	// Loses is what is lost with the object, empty for nothing.
	Loses string
}

// decide decides about a recreation.
func (r recreation) decide() verdict {
	v := verdict{Helps: r.helps(), Propagation: r.propagation()}
	v.Loses = r.loses(v.Propagation)
	return v
}

// helps reports whether a new object would have another value in a refused field.
// It does not if an admission policy sets the value on each create.
func (r recreation) helps() bool {
	fresh := r.Fresh
	if fresh == nil {
		fresh = r.Plan
	}
	fields := slices.DeleteFunc(slices.Clone(r.Fields), func(f string) bool { return f == "" || strings.HasPrefix(f, "metadata") })
	if len(fields) == 0 {
		for name := range r.Plan {
			if name != "metadata" && name != "apiVersion" && name != "kind" {
				fields = append(fields, name)
			}
		}
	}
	return slices.ContainsFunc(fields, func(f string) bool {
		live, _ := valueAt(r.Live, f)
		want, _ := valueAt(fresh, f)
		plan, _ := valueAt(r.Plan, f)
		return differ(live, want, plan, ownAt(r.Own, f))
	})
}

// ownAt is what is owned at a field that a refusal names, nil for nothing.
func ownAt(own *fieldset.Set, field string) *fieldset.Set {
	path, err := fieldset.ParsePath(field)
	if err != nil || own == nil {
		return nil
	}
	return path.Below(own)
}

// differ reports whether two values differ in what is planned or owned. Where
// nothing is owned, it also counts what only the first value has.
func differ(live, fresh, plan any, own *fieldset.Set) bool {
	have, isMap := live.(map[string]any)
	want, isAlso := fresh.(map[string]any)
	if isMap && isAlso && (own == nil || !own.Leaf()) {
		planned, _ := plan.(map[string]any)
		for name, value := range have {
			next, isPlanned := planned[name]
			other, isFresh := want[name]
			switch below := field(own, name); {
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

// propagation is what happens to the dependents: those of a workload whose
// selector stays the same are left, for the new object to take over.
func (r recreation) propagation() metav1.DeletionPropagation {
	if r.Policy != "" {
		return r.Policy
	}
	selects := func(content map[string]any) any {
		selector, _, _ := unstructured.NestedMap(content, "spec", "selector")
		if selector["matchLabels"] == nil && selector["matchExpressions"] == nil {
			return nil
		}
		return selector
	}
	fresh := r.Fresh
	if fresh == nil {
		fresh = r.Plan
	}
	if live := selects(r.Live); live != nil && selects(r.Plan) != nil && equality.Semantic.DeepEqual(live, selects(fresh)) {
		return metav1.DeletePropagationOrphan
	}
	return ""
}

// loses is what a new object does not bring back. What a Job or a Pod does is in the plan.
func (r recreation) loses(policy metav1.DeletionPropagation) string {
	switch r.Kind {
	case schema.GroupKind{Kind: "Pod"}, schema.GroupKind{Group: "batch", Kind: "Job"}:
	case schema.GroupKind{Group: "apps", Kind: "StatefulSet"}:
		templates, _, _ := unstructured.NestedSlice(r.Live, "spec", "volumeClaimTemplates")
		when, _, _ := unstructured.NestedString(r.Live, "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
		if len(templates) > 0 && when == "Delete" && policy != metav1.DeletePropagationOrphan {
			return "its claims are deleted with it"
		}
	default:
		if r.Guarded {
			return "objects of this kind hold data"
		}
	}
	for _, path := range r.Once {
		if _, exists := path.Lookup(r.Live); exists {
			return fmt.Sprintf("%s is set once", path)
		}
	}
	return ""
}

// recreate deletes an object that cannot be changed as planned, in the version
// in which it is still the owner's. It is created again by the reconciliation
// that its disappearance causes.
func recreate(p *pass.Pass, c *pass.Child, refusal error) { //nolint:funlen // one step after the other
	created, err := createdNew(p, c)
	switch {
	case err != nil && apierrors.IsInvalid(err):
		failWithBackoff(p, c, apply.OutcomeFailed, refusal) // the plan is invalid for a new object, too
		return
	case err != nil:
		failWithBackoff(p, c, apply.OutcomeFailed, fmt.Errorf("recreate: the API server does not accept the new object: %w", err))
		return
	}
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(c.Kind.GVK)
	if err := p.Env.Live.Get(p.Ctx, c.ID.Key, found); err != nil {
		c.Failed(apply.OutcomeFailed, fmt.Errorf("delete to recreate: %w", err))
		return
	}
	switch {
	case found.GetUID() != c.UID:
		c.Failed(apply.OutcomeFailed, fmt.Errorf("delete to recreate: %w", ownership.ErrReplaced))
		return
	case ownership.OptedOut(p, found):
		c.Result.Outcome, c.Result.Reason = apply.OutcomeOptedOut, apply.ReasonOptedOut
		return
	case !ownership.CheckOwner(p, c, found):
		return
	}
	observed, err := fieldset.Observe(p.Env.Encoder, found, c.Manager)
	if err != nil {
		c.Failed(apply.OutcomeFailed, fmt.Errorf("delete to recreate: %w", err))
		return
	}
	r := recreation{
		Kind: c.ID.GroupKind, Guarded: p.Env.HoldsData(c.ID.GroupKind), Live: observed.Content, Plan: c.Content, Fresh: created,
		Own: observed.Own.Set, Policy: c.Planned.RecreatePropagation,
	}
	for _, cause := range causesOf(refusal) {
		r.Fields = append(r.Fields, cause.Field)
	}
	for i := range c.Rules {
		if c.Rules[i].Policy == apply.FieldCreateOnly {
			r.Once = append(r.Once, c.Rules[i].Path)
		}
	}
	v := r.decide()
	if !v.Helps {
		failWithBackoff(p, c, apply.OutcomeFailed, fmt.Errorf("a new object would have the same values in the refused fields, so it is not recreated: %w", refusal))
		return
	}
	if v.Loses != "" {
		blocked := &apply.RecreateBlockedError{
			Loses: v.Loses, Annotation: p.Keys.AllowPrune, Token: p.RecreateToken(c.ID, c.UID), OnChild: p.Group != nil, Cause: refusal,
		}
		allowed := p.AllowPrune
		if p.Group != nil {
			allowed = found.GetAnnotations()[p.Keys.AllowPrune]
		}
		if allowed != blocked.Token {
			failWithBackoff(p, c, apply.OutcomeFailed, blocked)
			return
		}
	}
	if times, rest := c.Memory.Recreated(c.Hash, p.Now, p.Env.Options.ContestInterval); rest > 0 {
		failWithBackoff(p, c, apply.OutcomeFailed, fmt.Errorf("it was recreated %d times for the same plan; the next time is in %s: %w", times, rest, refusal))
		return
	}
	if err := p.Env.DeleteExactly(p.Ctx, c.Kind.GVK, c.ID.Key, c.UID, found.GetResourceVersion(), v.Propagation); err != nil {
		c.Failed(apply.OutcomeFailed, fmt.Errorf("delete to recreate: %w", err))
		return
	}
	c.Result.Verb, c.Result.Outcome, c.Result.Err = apply.VerbDelete, apply.OutcomeDeleted, nil
	c.Result.Unobserved = true
	c.Memory.NoteRecreated(c.Hash, p.Now)
	c.Memory.NoteDeleted(c.UID, p.Now)
	c.Requeue = pass.ConfirmAfter
}
