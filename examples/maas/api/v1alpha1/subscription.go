package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MaaSSubscriptionSpec is the desired state of a subscription: users, models and token limits.
type MaaSSubscriptionSpec struct {
	// Owner are the users of the subscription.
	Owner OwnerSpec `json:"owner"`
	// ModelRefs are the models of the subscription with their token limits.
	// +kubebuilder:validation:MinItems=1
	ModelRefs []ModelSubscriptionRef `json:"modelRefs"`
	// TokenMetadata attributes the usage to an organization and a cost center.
	// +optional
	TokenMetadata *Attribution `json:"tokenMetadata,omitempty"`
	// Priority selects one of several subscriptions of a user. The highest priority is selected.
	// +kubebuilder:default=0
	// +optional
	Priority int32 `json:"priority,omitempty"`
}

// OwnerSpec lists the users of a subscription.
type OwnerSpec struct {
	// Groups are groups of users.
	// +optional
	Groups []GroupReference `json:"groups,omitempty"`
	// Users are names of users.
	// +optional
	Users []string `json:"users,omitempty"`
}

// ModelSubscriptionRef is a model with its limits.
type ModelSubscriptionRef struct {
	ModelRef `json:",inline"`
	// TokenRateLimits are the limits for tokens. All of them apply.
	// +kubebuilder:validation:MinItems=1
	TokenRateLimits []TokenRateLimit `json:"tokenRateLimits"`
	// BillingRate is the price of the model's tokens.
	// +optional
	BillingRate *BillingRate `json:"billingRate,omitempty"`
}

// TokenRateLimit is a number of tokens in a window of time.
type TokenRateLimit struct {
	// Limit is the number of tokens.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	Limit int64 `json:"limit"`
	// Window is the time window of the limit, such as 30s, 5m or 24h.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=5
	// +kubebuilder:validation:Pattern=`^[1-9]\d{0,3}(s|m|h)$`
	Window string `json:"window"`
}

// BillingRate is the price of usage.
type BillingRate struct {
	// PerToken is the price of one token.
	PerToken string `json:"perToken"`
}

// TokenRateLimitStatus is the state of a generated TokenRateLimitPolicy.
type TokenRateLimitStatus struct {
	ResourceRefStatus `json:",inline"`
	// Model is the name of the MaaSModelRef.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Model string `json:"model"`
}

// MaaSSubscriptionStatus is the observed state of a subscription.
type MaaSSubscriptionStatus struct {
	// Phase summarizes the conditions in one word.
	// +kubebuilder:validation:Enum=Pending;Active;Degraded;Failed
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// ModelRefStatuses are the states of the referenced models.
	// +optional
	ModelRefStatuses []ResourceRefStatus `json:"modelRefStatuses,omitempty"`
	// TokenRateLimitStatuses are the states of the generated policies.
	// +optional
	TokenRateLimitStatuses []TokenRateLimitStatus `json:"tokenRateLimitStatuses,omitempty"`
	// Conditions are the latest observations of the state of the object.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// MaaSSubscription grants users a number of tokens for models.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Priority",type=integer,JSONPath=`.spec.priority`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type MaaSSubscription struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +optional
	Spec *MaaSSubscriptionSpec `json:"spec,omitempty"`
	// Status is the observed state.
	// +optional
	Status MaaSSubscriptionStatus `json:"status,omitempty"`
}

// MaaSSubscriptionList is a list of MaaSSubscription.
//
// +kubebuilder:object:root=true
type MaaSSubscriptionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the objects of the list.
	Items []MaaSSubscription `json:"items"`
}
