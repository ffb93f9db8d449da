package releases

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// definition is the kind of CRDs.
const definition = "CustomResourceDefinition"

// definitionFields is the number of fields that are edited in each CRD; the fields are a sample with a fixed seed. In other objects all
// fields are edited.
const definitionFields = 40

// fieldsPerRound is the number of fields of one object that are edited before the engine repairs them.
const fieldsPerRound = 4

// target is a planned object with the fields to edit.
type target struct {
	planned *unstructured.Unstructured
	fields  []path
	// before and now are the object at the start of a round, and with the edits of the round.
	before, now *unstructured.Unstructured
	edits       []edit
}

// edit is an edit of one field.
type edit struct {
	at    path
	value any
}

func (e edit) String() string {
	if e.value == removed {
		return e.at.String() + " removed"
	}
	return fmt.Sprintf("%s set to %v", e.at, e.value)
}

// editAll edits every scalar field that the manifests state, with another client, and checks that the engine repairs or reports it. First it
// edits the CRDs, then the other objects.
func (t *trial) editAll() error {
	var definitions, others []*target
	for _, planned := range t.plan {
		next, err := t.target(planned)
		if err != nil {
			return err
		}
		if planned.GetKind() == definition {
			definitions = append(definitions, next)
			continue
		}
		others = append(others, next)
	}
	for _, targets := range [][]*target{definitions, others} {
		for round := 0; ; round++ {
			more, err := t.round(targets, round)
			if err != nil {
				return err
			}
			if !more {
				break
			}
		}
	}
	return t.steady("after the edits")
}

// target returns the fields of a planned object.
func (t *trial) target(planned *unstructured.Unstructured) (*target, error) {
	stored, err := t.get(planned)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", nameOf(planned), err)
	}
	out := &target{planned: planned}
	for _, at := range scalars(plannedContent(planned), nil) {
		switch first, second := at[0], at[min(1, len(at)-1)]; {
		case first == "apiVersion", first == "kind", first == "metadata" && (second == "name" || second == "namespace"):
			continue
		}
		if _, has := get(stored.Object, at); !has {
			t.report.notStored(planned.GetKind(), at)
			if _, has := get(stored.Object, at[:len(at)-1]); !has {
				continue // the server drops the parent, too
			}
		}
		out.fields = append(out.fields, at)
	}
	if len(out.fields) > definitionFields && planned.GetKind() == definition {
		t.report.Sampled += len(out.fields) - definitionFields
		random := rand.New(rand.NewPCG(1, uint64(len(out.fields)))) //nolint:gosec // to be repeated
		random.Shuffle(len(out.fields), func(i, j int) { out.fields[i], out.fields[j] = out.fields[j], out.fields[i] })
		out.fields = out.fields[:definitionFields]
	}
	return out, nil
}

// part returns the fields of a round, which are far from each other.
func (t *target) part(number int) []path {
	var out []path
	rounds := (len(t.fields) + fieldsPerRound - 1) / fieldsPerRound
	for i := number; i < len(t.fields) && number < rounds; i += rounds {
		out = append(out, t.fields[i])
	}
	return out
}

// plannedContent returns the content of a planned object as the API server stores it: stringData of a Secret is data.
func plannedContent(planned *unstructured.Unstructured) map[string]any {
	texts, has, _ := unstructured.NestedStringMap(planned.Object, "stringData")
	if planned.GetKind() != "Secret" || !has {
		return planned.Object
	}
	out := planned.DeepCopy().Object
	delete(out, "stringData")
	for key, text := range texts {
		_ = unstructured.SetNestedField(out, base64.StdEncoding.EncodeToString([]byte(text)), "data", key)
	}
	return out
}

// round edits some fields of each object and passes until steady state.
func (t *trial) round(targets []*target, number int) (more bool, err error) {
	edited := false
	for _, next := range targets {
		next.edits = nil
		fields := next.part(number)
		if len(fields) == 0 {
			continue
		}
		more = true
		if next.before, err = t.get(next.planned); err != nil {
			return false, fmt.Errorf("read %s: %w", nameOf(next.planned), err)
		}
		next.now = next.before
		for _, at := range fields {
			if err := t.edit(next, at); err != nil {
				return false, err
			}
		}
		edited = edited || len(next.edits) > 0
	}
	if !edited {
		return more, nil
	}
	t.clock.Step(settled)
	result, err := t.rest()
	if err != nil {
		return false, err
	}
	for _, next := range targets {
		if len(next.edits) == 0 {
			continue
		}
		if err := t.judge(next, result); err != nil {
			return false, err
		}
	}
	return more, nil
}

// edit edits a field with the first other value that the server accepts.
func (t *trial) edit(next *target, at path) error {
	value, has := get(next.now.Object, at)
	if _, parent := get(next.now.Object, at[:len(at)-1]); !parent {
		return nil // another edit has removed it
	}
	if !has {
		value, _ = get(plannedContent(next.planned), at) // the server omits false, 0 and ""
	}
	for _, other := range others(value, next.planned.GetKind() == definition) {
		edited, err := t.put(next, at, other)
		if err != nil {
			return fmt.Errorf("edit %s: %w", nameOf(next.planned), err)
		}
		if edited == nil {
			continue
		}
		next.now = edited
		if stored, is := get(edited.Object, at); is == has && (!is || reflect.DeepEqual(stored, value)) {
			continue // the server has restored it
		}
		t.report.Edits++
		next.edits = append(next.edits, edit{at: at, value: other})
		return nil
	}
	t.report.fixed(next.planned.GetKind(), at)
	return nil
}

// put stores the object with another value of a field. It returns nil if the server refuses the value.
func (t *trial) put(next *target, at path, value any) (*unstructured.Unstructured, error) {
	for {
		edited := next.now.DeepCopy()
		set(edited.Object, at, value)
		err := t.server.admin.Update(t.ctx, edited, client.FieldOwner(editor))
		switch {
		case err == nil:
			return edited, nil
		case apierrors.IsServerTimeout(err), apierrors.IsServiceUnavailable(err), t.ctx.Err() != nil:
			return nil, err
		case !apierrors.IsConflict(err):
			return nil, nil
		}
		// The server has updated the status of a CRD.
		if next.now, err = t.get(next.planned); err != nil {
			return nil, err
		}
		if _, parent := get(next.now.Object, at[:len(at)-1]); !parent {
			return nil, nil
		}
	}
}

// judge checks what became of the edits of an object.
func (t *trial) judge(next *target, result apply.Result) error {
	name := nameOf(next.planned)
	now, err := t.get(next.planned)
	if err != nil {
		t.report.fault("%s: edits %v: %v", name, next.edits, err)
		return nil
	}
	missing := lacks(stated(plannedContent(next.planned), next.before.Object), now.Object, nil)
	var reported error
	for i := range result.Objects {
		if t.is(next.planned, &result.Objects[i]) {
			reported = result.Objects[i].Err
		}
	}
	switch {
	case reported != nil:
		t.report.reported(name, next.edits, reported)
		return t.restore(next, now)
	case len(missing) > 0:
		t.report.fault("%s: edits %v: the engine reports nothing, and the object differs in %v", name, next.edits, missing)
		return t.restore(next, now)
	}
	t.report.Repaired += len(next.edits)
	left := differences(lasting(next.before.Object), lasting(now.Object), nil)
	for _, at := range left {
		t.report.leftBehind(next.planned.GetKind(), "after edits", at)
	}
	if len(left) == 0 {
		return nil
	}
	return t.withdraw(next, now) // items of the editor would move those of the manifest
}

// restore undoes edits that the engine does not undo.
func (t *trial) restore(next *target, now *unstructured.Unstructured) error {
	if next.planned.GetKind() == definition {
		return t.withdraw(next, now)
	}
	if err := t.server.admin.Delete(t.ctx, now, client.PropagationPolicy("Background")); err != nil {
		return err
	}
	t.clock.Step(settled)
	_, err := t.rest()
	return err
}

// withdraw lets the editor put back the object as it was before the edits.
func (t *trial) withdraw(next *target, now *unstructured.Unstructured) error {
	restored := next.before.DeepCopy()
	restored.SetResourceVersion(now.GetResourceVersion())
	if err := t.server.admin.Update(t.ctx, restored, client.FieldOwner(editor)); err != nil {
		t.report.name("objects that are edited no more", fmt.Sprintf("%s %v: %.150s", nameOf(next.planned), next.edits, err))
		next.fields = nil
		return nil //nolint:nilerr // it is in the report
	}
	t.clock.Step(settled)
	_, err := t.rest()
	return err
}
