// Package widget is the API type that every subject of the benchmark reconciles, and its CRD.
package widget

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of widgets.
var GroupVersion = schema.GroupVersion{Group: "benchmark.reconcilekit.dev", Version: "v1"} //nolint:gochecknoglobals // a constant

// Ready is the condition type that every subject sets.
const Ready = "Ready"

// AddToScheme registers the kinds.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// Widget is the owner. Its spec is the number of children and their image.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   Spec   `json:"spec,omitzero"`
	Status Status `json:"status,omitzero"`
}

// Spec describes the children.
type Spec struct {
	// Image is used in Deployments and ConfigMaps.
	Image string `json:"image,omitempty"`
	// Count is the number of children.
	Count int `json:"count,omitempty"`
}

// Status is the same for every subject, except for the inventory.
type Status struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	// Inventory lists the children for subjects with an inventory in the status.
	Inventory []string `json:"inventory,omitempty"`
}

// WidgetList is a list of widgets.
type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []Widget `json:"items"`
}

// SetObservedGeneration sets status.observedGeneration.
func (w *Widget) SetObservedGeneration(generation int64) { w.Status.ObservedGeneration = generation }

// DeepCopy copies the widget.
func (w *Widget) DeepCopy() *Widget {
	out := *w
	w.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = slices.Clone(w.Status.Conditions)
	for i := range out.Status.Conditions {
		w.Status.Conditions[i].DeepCopyInto(&out.Status.Conditions[i])
	}
	out.Status.Inventory = slices.Clone(w.Status.Inventory)
	return &out
}

// DeepCopyObject copies the widget.
func (w *Widget) DeepCopyObject() runtime.Object { return w.DeepCopy() }

// DeepCopyObject copies the list.
func (l *WidgetList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Widget, 0, len(l.Items))
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopy())
	}
	return &out
}
