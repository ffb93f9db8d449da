package engine

import (
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/memory"
)

// createDryRun returns the object that the API server would create from the intent, with a dry run of a create. The dry run uses a
// generated name, because the name of the object is taken. The result is nil without an error if the API server would accept the intent
// and the created object is unknown: if only values of the existing object are in conflict, such as a node port, or if the kind restricts
// names.
func createDryRun(p *pass, c *child) (map[string]any, error) {
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(c.content)}
	u.SetGroupVersionKind(c.kind.GVK)
	u.SetGenerateName(c.id.Key.Name)
	u.SetNamespace(c.id.Key.Namespace)
	err := p.env.client.Create(p.ctx, u, client.FieldOwner(c.manager), client.DryRunAll)
	switch {
	case err == nil:
		return u.Object, nil
	case collidesOnlyWithExisting(p, c, err):
		return nil, nil //nolint:nilnil // accepted, and not known
	case !refusesName(err):
		return nil, err
	}
	u = &unstructured.Unstructured{Object: runtime.DeepCopyJSON(c.content)}
	u.SetGroupVersionKind(c.kind.GVK)
	u.SetName(c.id.Key.Name)
	u.SetNamespace(c.id.Key.Namespace)
	err = p.env.client.Create(p.ctx, u, client.FieldOwner(c.manager), client.DryRunAll)
	if err == nil || apierrors.IsAlreadyExists(err) || collidesOnlyWithExisting(p, c, err) {
		return nil, nil //nolint:nilnil // as above
	}
	return nil, err
}

// mayLeaveFields reports whether the write that the result describes has changed an existing object so that fields of an earlier plan can
// be left.
func mayLeaveFields(c *child) bool {
	if c.result.Outcome != apply.OutcomeUpdated || c.result.Err != nil {
		return false
	}
	if c.result.Reason == apply.ReasonDrift {
		return c.recall.Failure != nil // the plan was not reached before
	}
	return slices.Contains([]apply.Reason{apply.ReasonPlanChanged, apply.ReasonDiffers, apply.ReasonFormerManager}, c.result.Reason)
}

// renewDefaults runs after an apply that has changed an existing object. It takes over the fields that no manager owns and that a new
// object would have with other values, and applies once more. If the API server keeps such a field that the earlier plan had, the child
// fails. The answer to a question is remembered if nothing has to follow.
func renewDefaults(p *pass, c *child, answer client.Object) error {
	if c.renewed || !mayLeaveFields(c) || !mayRemoveConflicting(p, c) {
		return nil
	}
	c.renewed = true
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(answer)
	if err != nil {
		return nil //nolint:nilerr // the object is as planned; what a new one would be is not known
	}
	owned, err := ownedByAny(answer.GetManagedFields())
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	r := renewal{unownedPart: unownedPart{live: c.withoutRuled(content), owned: owned, plan: c.content}, before: fieldsBefore(c)}
	all := unownedFields(r.unownedPart, nil)
	if len(all.places) == 0 {
		return nil
	}
	question := p.env.settled.question(c.kind.GVK, c.content, all.places)
	if p.env.settled.has(question) {
		return nil
	}
	fresh, err := createDryRun(p, c)
	if err != nil || fresh == nil {
		return nil //nolint:nilerr // as above
	}
	r.fresh = c.withoutRuled(renamed(fresh, content))
	take, kept, err := r.find(p, c, answer)
	switch {
	case err != nil:
		return nil //nolint:nilerr // as above
	case len(take.places) == 0 && len(kept.places) == 0:
		p.env.settled.add(question)
		return nil
	}
	if err := r.follow(p, c, answer, take); err != nil || c.result.Err != nil {
		return err
	}
	return reportKept(p, c, kept)
}

// follow takes the fields over and applies again. It removes empty lists and objects itself, because an apply leaves
// them.
func (r *renewal) follow(p *pass, c *child, answer client.Object, take unowned) error {
	var empty []fieldset.Place
	for i := range take.places {
		if isHollow(take.places[i].Value) {
			empty = append(empty, take.places[i])
		}
	}
	if len(empty) > 0 {
		observeAnswer(p, c, answer)
		c.unwanted = empty
		removed, err := sendRemoval(p, c)
		if err != nil {
			return err
		}
		noteRemoved(p, c, removed)
		answer = removed
	}
	if len(empty) == len(take.places) {
		return nil
	}
	if err := takeFields(p, c, answer, take); err != nil {
		return err
	}
	return applyAgain(p, c)
}

// fieldsBefore returns the fields of the engine and of former managers in the object before the write.
func fieldsBefore(c *child) *fieldset.Set {
	if c.live == nil {
		return nil
	}
	fields := map[string]any{}
	for _, e := range c.live.GetManagedFields() {
		if e.FieldsV1 == nil || !c.isFormer(&e) && (e.Manager != c.manager || e.Operation != metav1.ManagedFieldsOperationApply) {
			continue
		}
		if more, err := fieldset.RawFields(&e); err == nil {
			fieldset.UnionFields(fields, more)
		}
	}
	encoded, err := fieldset.EncodeFields(fields)
	if err != nil {
		return nil
	}
	return memory.Remembered(&metav1.ManagedFieldsEntry{FieldsV1: encoded}, "").Set()
}

// renewal compares an object with the one that the API server would create from its plan.
type renewal struct {
	unownedPart
	// before are the fields of the engine and of former managers before the plan changed.
	before *fieldset.Set
}

// find returns the fields to take over, which a dry run can remove, and those that the API server keeps although the earlier plan had
// them. Other fields that it keeps are values of the existing object, such as a storage class.
func (r *renewal) find(p *pass, c *child, answer client.Object) (take, kept unowned, err error) {
	stays := map[string]bool{}
	for {
		take = unownedFields(r.unownedPart, func(path string) bool { return !stays[path] })
		if len(take.places) == 0 {
			break
		}
		remains, err := r.remains(p, c, answer, take)
		if err != nil {
			return unowned{}, unowned{}, err
		}
		if len(remains) == 0 {
			break
		}
		for _, path := range remains {
			stays[path] = true
		}
	}
	kept = unownedFields(r.unownedPart, func(path string) bool {
		return stays[path] && ownAt(r.before, strings.TrimPrefix(path, ".")) != nil
	})
	return take, kept, nil
}

// remains removes the fields in a dry run and returns those that the API server keeps.
func (r *renewal) remains(p *pass, c *child, answer client.Object, take unowned) ([]string, error) {
	observeAnswer(p, c, answer)
	unwanted := c.unwanted
	c.unwanted = take.places
	after, err := sendRemoval(p, c, client.DryRunAll)
	c.unwanted = unwanted
	if err != nil && !isCurable(err) {
		return nil, err
	}
	paths := take.paths()
	if err != nil {
		near := nearCauses(causesOf(err))
		if refused := slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return near != nil && !near(path) }); len(refused) > 0 {
			return refused, nil
		}
		return paths, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(after)
	if err != nil {
		return nil, err
	}
	part := r.unownedPart
	part.live = c.withoutRuled(content)
	left := unownedFields(part, nil)
	return slices.DeleteFunc(paths, func(path string) bool { return !slices.Contains(left.paths(), path) }), nil
}

// reportKept fails the child because of fields that left the plan and that the API server keeps. The engine owns them again, so that the
// next look, also after a restart, finds them. Recreate makes a new object instead.
func reportKept(p *pass, c *child, kept unowned) error {
	if len(kept.places) == 0 {
		return nil
	}
	observeAnswer(p, c, c.answer)
	if err := takeFields(p, c, c.live, kept); err != nil {
		return err
	}
	c.memory.Wrote(c.live, p.now)
	var causes field.ErrorList
	for i := range kept.places {
		causes = append(causes, field.Invalid(field.NewPath(strings.TrimPrefix(kept.places[i].Text, ".")), kept.places[i].Value,
			"left the plan, but the API server keeps it in an existing object; plan a value, plan the object with apply.Recreate(), or delete it"))
	}
	handleRefusal(p, c, apierrors.NewInvalid(c.id.GroupKind, c.id.Key.Name, causes))
	return nil
}

// renamed returns the new object with the name and the UID of the existing one, which values can contain.
func renamed(fresh, existing map[string]any) map[string]any {
	var pairs []string
	for _, name := range []string{"name", "uid"} {
		from, _, _ := unstructured.NestedString(fresh, "metadata", name)
		to, _, _ := unstructured.NestedString(existing, "metadata", name)
		if from != "" && to != "" {
			pairs = append(pairs, from, to)
		}
	}
	out, _ := replaceIn(fresh, strings.NewReplacer(pairs...)).(map[string]any)
	return out
}

func replaceIn(value any, r *strings.Replacer) any {
	switch x := value.(type) {
	case map[string]any:
		for name := range x {
			x[name] = replaceIn(x[name], r)
		}
	case []any:
		for i := range x {
			x[i] = replaceIn(x[i], r)
		}
	case string:
		return r.Replace(x)
	}
	return value
}

// refusesName reports whether the error is about the generated name, or about a part of the object that must match the name.
func refusesName(err error) bool {
	return apierrors.IsInvalid(err) && slices.ContainsFunc(causesOf(err), func(cause metav1.StatusCause) bool {
		return strings.HasPrefix(cause.Field, "metadata.")
	})
}
