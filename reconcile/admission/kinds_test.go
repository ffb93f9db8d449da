package admission_test

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/reconcilekit/reconcilekit/reconcile/admission"
)

var (
	v1    = schema.GroupVersion{Group: "example.com", Version: "v1"}
	beta1 = schema.GroupVersion{Group: "example.com", Version: "v1beta1"}
)

// Cabinet is the hub version of the kind.
type Cabinet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec CabinetSpec `json:"spec"`
}

type CabinetSpec struct {
	Wood    string `json:"wood"` // required, so always marshalled
	Drawers int    `json:"drawers,omitempty"`
}

func (*Cabinet) Hub() {}

func (c *Cabinet) DeepCopyObject() runtime.Object {
	out := *c
	c.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// OldCabinet is the same kind in an earlier version.
type OldCabinet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec OldCabinetSpec `json:"spec"`
}

type OldCabinetSpec struct {
	Boxes int `json:"boxes,omitempty"`
}

func (c *OldCabinet) DeepCopyObject() runtime.Object {
	out := *c
	c.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

func (c *OldCabinet) ConvertTo(hub conversion.Hub) error {
	to := hub.(*Cabinet)
	if c.Spec.Boxes < 0 {
		return fmt.Errorf("spec.boxes: %d is must not be negative", c.Spec.Boxes)
	}
	to.ObjectMeta, to.Spec.Drawers = c.ObjectMeta, c.Spec.Boxes
	return nil
}

func (c *OldCabinet) ConvertFrom(hub conversion.Hub) error {
	from := hub.(*Cabinet)
	c.ObjectMeta, c.Spec.Boxes = from.ObjectMeta, from.Spec.Drawers
	return nil
}

func kinds() admission.Kinds[*Cabinet] {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(v1.WithKind("Cabinet"), &Cabinet{})
	scheme.AddKnownTypeWithName(beta1.WithKind("Cabinet"), &OldCabinet{})
	return admission.Kinds[*Cabinet]{
		Hub: func() *Cabinet { return &Cabinet{} }, Scheme: scheme,
		Spokes: map[schema.GroupVersionKind]func() conversion.Convertible{
			beta1.WithKind("Cabinet"): func() conversion.Convertible { return &OldCabinet{} },
		},
	}
}
