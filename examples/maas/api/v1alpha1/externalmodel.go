package v1alpha1

import (
	"github.com/reconcilekit/reconcilekit/health"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ExternalModelSpec describes the provider of a model.
type ExternalModelSpec struct {
	// Provider is the provider of the model, which determines the API.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Provider string `json:"provider"`
	// TargetModel is the name of the model at the provider.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	TargetModel string `json:"targetModel"`
	// Endpoint is the host name of the provider, without scheme, port or path.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9]([a-zA-Z0-9\-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9\-]*[a-zA-Z0-9])?)*$`
	Endpoint string `json:"endpoint"`
	// CredentialRef names the Secret with the provider's key in "api-key".
	CredentialRef CredentialReference `json:"credentialRef"`
}

// CredentialReference refers to a Secret in the same namespace.
type CredentialReference struct {
	// Name is the name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// ExternalModelStatus is the observed state of an ExternalModel.
type ExternalModelStatus struct {
	// Phase summarizes the conditions in one word.
	// +kubebuilder:validation:Enum=Pending;Ready;Failed
	// +optional
	Phase ModelPhase `json:"phase,omitempty"`
	// Conditions are the latest observations of the state of the object.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// SetState stores the state as the phase.
func (o *ExternalModel) SetState(state health.State) {
	switch {
	case state == health.Ready:
		o.Status.Phase = ModelReady
	case state.Failing():
		o.Status.Phase = ModelFailed
	default:
		o.Status.Phase = ModelPending
	}
}

// ExternalModel is a model that an external provider serves.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Provider",type=string,JSONPath=`.spec.provider`
// +kubebuilder:printcolumn:name="TargetModel",type=string,JSONPath=`.spec.targetModel`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.spec.endpoint`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ExternalModel struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +optional
	Spec *ExternalModelSpec `json:"spec,omitempty"`
	// Status is the observed state.
	// +optional
	Status ExternalModelStatus `json:"status,omitempty"`
}

// ExternalModelList is a list of ExternalModel.
//
// +kubebuilder:object:root=true
type ExternalModelList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the objects of the list.
	Items []ExternalModel `json:"items"`
}
