package v1alpha1

import (
	"encoding/json"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// newerFields is the annotation with the fields that only v1 has, so that a read and a write in this version keeps them.
const newerFields = "trustyai.opendatahub.io/v1-fields"

// remember stores the fields that only v1 has in the annotation of an object of this version, unless all are empty.
func remember(object metav1.Object, newer any, nothing bool) error {
	annotations := withoutNewer(object)
	if !nothing {
		text, err := json.Marshal(newer)
		if err != nil {
			return fmt.Errorf("annotation %s: %w", newerFields, err)
		}
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[newerFields] = string(text)
	}
	object.SetAnnotations(annotations)
	return nil
}

// recall reads the annotation and removes it, because v1 objects do not have it.
func recall(object metav1.Object, newer any) error {
	if text := object.GetAnnotations()[newerFields]; text != "" {
		if err := json.Unmarshal([]byte(text), newer); err != nil {
			return fmt.Errorf("annotation %s: %w", newerFields, err)
		}
	}
	object.SetAnnotations(withoutNewer(object))
	return nil
}

// withoutNewer returns a copy of the annotations without that one.
func withoutNewer(object metav1.Object) map[string]string {
	out := maps.Clone(object.GetAnnotations())
	if _, has := out[newerFields]; !has {
		return out
	}
	delete(out, newerFields)
	if len(out) == 0 {
		return nil
	}
	return out
}
