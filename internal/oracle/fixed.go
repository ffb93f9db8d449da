package oracle

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/internal/oracle/shape"
)

// fixed is a kind with a written Go type, with fields of types that marshal themselves; in generated kinds these are behind an interface,
// which the engine handles differently.
type fixed struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              fixedSpec `json:"spec,omitzero"`
}

type fixedSpec struct {
	Config  apiextensionsv1.JSON  `json:"config,omitzero"`
	Values  *apiextensionsv1.JSON `json:"values,omitempty"`
	Raw     *runtime.RawExtension `json:"raw,omitempty"`
	Own     *shape.Own            `json:"own,omitempty"`
	Allowed *bool                 `json:"allowed,omitempty"`
	Items   []fixedItem           `json:"items,omitempty"`
	Ports   []fixedPort           `json:"ports,omitempty"`
}

// fixedPort is an element of an atomic list, with field names for which other kinds have defaults.
type fixedPort struct {
	Protocol string `json:"protocol,omitempty"`
	Kind     string `json:"kind,omitempty"`
	Weight   *int64 `json:"weight,omitempty"`
}

type fixedItem struct {
	Name   string                `json:"name"`
	Config *apiextensionsv1.JSON `json:"config,omitempty"`
	Weight *int64                `json:"weight,omitempty"`
}

// DeepCopyObject copies the object; pointers are shared, because their targets are never modified.
func (f *fixed) DeepCopyObject() runtime.Object {
	out := *f
	f.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Items = slices.Clone(f.Spec.Items)
	out.Spec.Ports = slices.Clone(f.Spec.Ports)
	return &out
}

type fixedList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []fixed `json:"items"`
}

// DeepCopyObject copies the list.
func (l *fixedList) DeepCopyObject() runtime.Object {
	out := &fixedList{TypeMeta: l.TypeMeta, ListMeta: l.ListMeta}
	for i := range l.Items {
		item, _ := l.Items[i].DeepCopyObject().(*fixed)
		out.Items = append(out.Items, *item)
	}
	return out
}

// fixedKind registers the kind in the scheme and returns it.
func fixedKind(scheme *runtime.Scheme) *Kind {
	free := &shape.Shape{Type: shape.ObjectType, Preserve: true}
	item := &shape.Shape{Type: shape.ObjectType, Required: []string{"name"}, Properties: map[string]*shape.Shape{
		"name": {Type: shape.StringType}, "config": free, "weight": {Type: shape.IntegerType, Format: "int64"},
	}}
	port := &shape.Shape{Type: shape.ObjectType, Properties: map[string]*shape.Shape{
		"protocol": {Type: shape.StringType}, "kind": {Type: shape.StringType}, "weight": {Type: shape.IntegerType, Format: "int64"},
	}}
	spec := &shape.Shape{Type: shape.ObjectType, Properties: map[string]*shape.Shape{
		"config": free, "values": {Type: shape.AnyType, Preserve: true}, "raw": free, "own": free,
		"allowed": {Type: shape.BooleanType},
		"items":   {Type: shape.ArrayType, ListType: shape.MapList, Keys: []string{"name"}, Items: item},
		"ports":   {Type: shape.ArrayType, ListType: shape.AtomicList, Items: port},
	}}
	gvk := schema.GroupVersionKind{Group: customGroup, Version: "v1", Kind: "CustomFixed"}
	scheme.AddKnownTypeWithName(gvk, &fixed{})
	scheme.AddKnownTypeWithName(gvk.GroupVersion().WithKind(gvk.Kind+"List"), &fixedList{})
	return &Kind{
		gvk: gvk, shape: shape.Object(spec), custom: true, goType: &fixed{},
		bases: []map[string]any{
			{"spec": map[string]any{}},
			{"spec": map[string]any{"config": map[string]any{"replicas": int64(1)}}},
			{"spec": map[string]any{"ports": []any{map[string]any{"protocol": "TCP", "weight": int64(1)}, map[string]any{"kind": "Service"}}}},
		},
	}
}
