package widget

import (
	"maps"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/health"
)

// GroupVersion is the API group and version of widgets.
var GroupVersion = schema.GroupVersion{Group: "test.reconcilekit.dev", Version: "v1"} //nolint:gochecknoglobals // a constant

// AddToScheme registers the kinds.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// Widget is a small owner: the reconciler of a test derives its children from the spec.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              Spec   `json:"spec,omitzero"`
	Status            Status `json:"status,omitzero"`
}

// Spec is the spec of a test.
type Spec struct {
	Count   int               `json:"count,omitempty"`
	Message string            `json:"message,omitempty"`
	Ref     string            `json:"ref,omitempty"`
	Data    map[string]string `json:"data,omitempty"`
}

// Status is what the engine and the decorator store.
type Status struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	State              string             `json:"state,omitempty"`
	Count              int                `json:"count,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// WidgetList is a list of widgets.
type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Widget `json:"items"`
}

// SetObservedGeneration sets status.observedGeneration.
func (w *Widget) SetObservedGeneration(generation int64) { w.Status.ObservedGeneration = generation }

// SetState sets the state of the owner.
func (w *Widget) SetState(state health.State) { w.Status.State = string(state) }

// DeepCopyObject copies the widget.
func (w *Widget) DeepCopyObject() runtime.Object {
	out := *w
	w.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if w.Spec.Data != nil {
		out.Spec.Data = make(map[string]string, len(w.Spec.Data))
		maps.Copy(out.Spec.Data, w.Spec.Data)
	}
	out.Status.Conditions = nil
	for i := range w.Status.Conditions {
		out.Status.Conditions = append(out.Status.Conditions, *w.Status.Conditions[i].DeepCopy())
	}
	return &out
}

// DeepCopyObject copies the list.
func (l *WidgetList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*Widget)) //nolint:forcetypeassert // see above
	}
	return &out
}

// CRD returns the definition of the kind; conditions are a map list, as required for the status by server-side apply.
func CRD() *apiextensionsv1.CustomResourceDefinition {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	number := apiextensionsv1.JSONSchemaProps{Type: "integer", Format: "int64"}
	object := func(properties map[string]apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "object", Properties: properties}
	}
	condition := object(map[string]apiextensionsv1.JSONSchemaProps{
		"type": text, "status": text, "reason": text, "message": text,
		"lastTransitionTime": {Type: "string", Format: "date-time"}, "observedGeneration": number,
	})
	condition.Required = []string{"type", "status", "lastTransitionTime", "reason", "message"}
	listType := "map"
	count := number
	least := 0.0
	count.Minimum = &least
	root := object(map[string]apiextensionsv1.JSONSchemaProps{
		"spec": object(map[string]apiextensionsv1.JSONSchemaProps{
			"count": count, "message": text, "ref": text,
			"data": {Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &text}},
		}),
		"status": object(map[string]apiextensionsv1.JSONSchemaProps{
			"observedGeneration": number, "state": text, "count": number,
			"conditions": {
				Type: "array", XListType: &listType, XListMapKeys: []string{"type"},
				Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &condition},
			},
		}),
	})
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets." + GroupVersion.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: GroupVersion.Group,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Kind: "Widget", ListKind: "WidgetList", Plural: "widgets", Singular: "widget",
			},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: GroupVersion.Version, Served: true, Storage: true,
				Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &root},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}
