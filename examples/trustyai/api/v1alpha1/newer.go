package v1alpha1

import (
	"encoding/json"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// newerFields is the annotation of an object of this version with what only v1 can say, so that it survives being read and written here.
const newerFields = "trustyai.opendatahub.io/v1-fields"

// remember puts what only v1 can say into the annotation of an object of this version, unless there is nothing to say.
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

// recall takes it out of the annotation again, which v1 does not have.
func recall(object metav1.Object, newer any) error {
	if text := object.GetAnnotations()[newerFields]; text != "" {
		if err := json.Unmarshal([]byte(text), newer); err != nil {
			return fmt.Errorf("annotation %s: %w", newerFields, err)
		}
	}
	object.SetAnnotations(withoutNewer(object))
	return nil
}

// withoutNewer returns the annotations but that one. They are a copy: the objects of both versions do not share them.
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
