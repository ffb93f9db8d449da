package external

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The group and version of all kinds. No API server serves them.
const (
	group   = "external"
	version = "v1"
)

// Object represents one external resource in reads, plans, results and recordings. Its kind is that of the [Kind], its name is the key.
// Only [Kind] creates and reads it.
type Object struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	spec, status any // Go values, or json.RawMessage in an object that was decoded
}

var _ client.Object = (*Object)(nil)

func newObject(kind, key string) *Object {
	o := &Object{}
	o.SetGroupVersionKind(gvkOf(kind))
	o.SetName(key)
	return o
}

func gvkOf(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: version, Kind: kind}
}

// DeepCopyObject implements [runtime.Object]. The copy shares the planned and the observed value, which are never modified.
func (o *Object) DeepCopyObject() runtime.Object {
	out := *o
	o.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// encoded is the format of an object in recordings.
type encoded struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Key        string          `json:"key"`
	Spec       json.RawMessage `json:"spec,omitempty"`
	Status     json.RawMessage `json:"status,omitempty"`
}

// MarshalJSON implements [json.Marshaler].
func (o *Object) MarshalJSON() ([]byte, error) {
	out := encoded{APIVersion: o.APIVersion, Kind: o.Kind, Key: o.Name}
	var err error
	if out.Spec, err = raw(o.spec); err == nil {
		out.Status, err = raw(o.status)
	}
	if err != nil {
		return nil, fmt.Errorf("encode %s %q: %w", o.Kind, o.Name, err)
	}
	return json.Marshal(out)
}

func raw(value any) (json.RawMessage, error) {
	switch value := value.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		return value, nil
	}
	return json.Marshal(value)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (o *Object) UnmarshalJSON(data []byte) error {
	var in encoded
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*o = Object{}
	o.APIVersion, o.Kind, o.Name = in.APIVersion, in.Kind, in.Key
	if in.Spec != nil {
		o.spec = in.Spec
	}
	if in.Status != nil {
		o.status = in.Status
	}
	return nil
}

// valueOf returns a value of an object as its Go type.
func valueOf[V any](value any) (out V, err error) {
	switch value := value.(type) {
	case nil:
		return out, nil
	case json.RawMessage: // before V, which may be any
		return out, json.Unmarshal(value, &out)
	case V:
		return value, nil
	}
	return out, fmt.Errorf("%T is no %T", value, out)
}
