package v1alpha1

import "k8s.io/apimachinery/pkg/types"

// Phase is the state of a subscription or an auth policy as a single word.
type Phase string

// The phases of an object.
const (
	PhasePending  Phase = "Pending"
	PhaseActive   Phase = "Active"
	PhaseDegraded Phase = "Degraded"
	PhaseFailed   Phase = "Failed"
)

// Reason is the state of a referenced object as a single word.
//
// +kubebuilder:validation:Enum=Reconciled;ReconcileFailed;PartialFailure;Valid;NotFound;GetFailed;Accepted;AcceptedEnforced;NotAccepted;Enforced;NotEnforced;BackendNotReady;ConditionsNotFound;Unknown
type Reason string

// The reasons for the state of a referenced object.
const (
	ReasonReconciled         Reason = "Reconciled"
	ReasonReconcileFailed    Reason = "ReconcileFailed"
	ReasonPartialFailure     Reason = "PartialFailure"
	ReasonValid              Reason = "Valid"
	ReasonNotFound           Reason = "NotFound"
	ReasonGetFailed          Reason = "GetFailed"
	ReasonAccepted           Reason = "Accepted"
	ReasonAcceptedEnforced   Reason = "AcceptedEnforced"
	ReasonNotAccepted        Reason = "NotAccepted"
	ReasonNotEnforced        Reason = "NotEnforced"
	ReasonBackendNotReady    Reason = "BackendNotReady"
	ReasonConditionsNotFound Reason = "ConditionsNotFound"
	ReasonUnknown            Reason = "Unknown"
)

// ModelRef names a MaaSModelRef.
type ModelRef struct {
	// Name is the name of the MaaSModelRef.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// Namespace is the namespace of the MaaSModelRef.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
}

// Key returns the name of the MaaSModelRef.
func (r ModelRef) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}

// GroupReference names a group of users.
type GroupReference struct {
	// Name is the name of the group.
	Name string `json:"name"`
}

// ResourceRefStatus is the state of something that is referenced or generated.
type ResourceRefStatus struct {
	// Name is the name of the object.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Namespace is the namespace of the object.
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
	// Ready reports whether the object is valid and works.
	Ready bool `json:"ready"`
	// Reason is a one-word reason for the value of ready.
	// +optional
	Reason Reason `json:"reason,omitempty"`
	// Message is a human-readable explanation.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
}

// Attribution states to whom usage is attributed.
type Attribution struct {
	// OrganizationID identifies the organization for metering and billing.
	// +optional
	OrganizationID string `json:"organizationId,omitempty"`
	// CostCenter is the cost center that usage is charged to.
	// +optional
	CostCenter string `json:"costCenter,omitempty"`
	// Labels are additional labels for tracking and metrics.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
}
