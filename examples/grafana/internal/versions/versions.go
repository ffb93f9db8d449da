// Package versions converts objects between the API versions of a kind.
package versions

import (
	"fmt"
	"maps"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
)

// Object is a pointer to the type of a version.
type Object[T any] interface {
	*T
	metav1.Object
}

// Convert sets the fields of to with convert, which revert must reverse. If revert does not restore all fields of from, Convert stores the
// fields of from in the annotation named own, so that the conversion back restores them. It reads the annotation named other, which the
// conversion back has stored. Values that changed since win over those in the annotation. A changed list is replaced entirely.
//
// The caller copies the metadata. The API server allows a conversion to change only labels and annotations.
func Convert[F, T any, PF Object[F], PT Object[T]](from PF, to PT, own, other string, convert func(PF, PT) error, revert func(PT, PF) error) error {
	if err := convert(from, to); err != nil {
		return err
	}
	annotations := maps.Clone(from.GetAnnotations())
	if stored := annotations[other]; stored != "" {
		if err := restore(to, stored, convert, revert); err != nil {
			return fmt.Errorf("annotation %s: %w", other, err)
		}
	}
	delete(annotations, other)
	delete(annotations, own)

	restored := PF(new(F))
	if err := revert(to, restored); err != nil {
		return err
	}
	want, err := fields(from)
	if err != nil {
		return err
	}
	got, err := fields(restored)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(want, got) {
		text, err := json.Marshal(want)
		if err != nil {
			return fmt.Errorf("annotation %s: %w", own, err)
		}
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[own] = string(text)
	}
	if len(annotations) == 0 {
		annotations = nil
	}
	to.SetAnnotations(annotations)
	return nil
}

// Copy copies the fields that have the same JSON path in both versions, except for the metadata.
func Copy(from, to any) error {
	values, err := fields(from)
	if err != nil {
		return err
	}
	return decode(values, to)
}

// restore adds the fields of the stored object that the other version lacks.
func restore[F, T any, PF Object[F], PT Object[T]](to PT, stored string, convert func(PF, PT) error, revert func(PT, PF) error) error {
	var values map[string]any
	if err := json.Unmarshal([]byte(stored), &values); err != nil {
		return err
	}
	original, between, base := PT(new(T)), PF(new(F)), PT(new(T))
	if err := decode(values, original); err != nil {
		return err
	}
	if err := revert(original, between); err != nil {
		return err
	}
	if err := convert(between, base); err != nil {
		return err
	}
	before, err := fields(base)
	if err != nil {
		return err
	}
	after, err := fields(to)
	if err != nil {
		return err
	}
	object, err := entire(to)
	if err != nil {
		return err
	}
	for name := range after {
		delete(object, name)
	}
	maps.Copy(object, merge(values, before, after))
	result := new(T)
	if err := decode(object, result); err != nil {
		return err
	}
	*to = *result
	return nil
}

// merge makes the changes from before to after in original.
func merge(original, before, after map[string]any) map[string]any {
	merged := maps.Clone(original)
	for name := range before {
		if _, kept := after[name]; !kept {
			delete(merged, name)
		}
	}
	for name, value := range after {
		old, existed := before[name]
		if existed && reflect.DeepEqual(old, value) {
			continue
		}
		oldObject, a := old.(map[string]any)
		newObject, b := value.(map[string]any)
		if object, c := merged[name].(map[string]any); a && b && c {
			merged[name] = merge(object, oldObject, newObject)
		} else {
			merged[name] = value
		}
	}
	return merged
}

// fields returns the JSON form of an object without its type and metadata.
func fields(object any) (map[string]any, error) {
	values, err := entire(object)
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		delete(values, name)
	}
	return values, err
}

func entire(object any) (map[string]any, error) {
	var values map[string]any
	text, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(text, &values)
	}
	if err != nil {
		return nil, fmt.Errorf("convert %T: %w", object, err)
	}
	return values, nil
}

func decode(values map[string]any, into any) error {
	text, err := json.Marshal(values)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("convert to %T: %w", into, err)
	}
	return nil
}
