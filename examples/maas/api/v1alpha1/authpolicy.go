package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MaaSAuthPolicySpec grants subjects the use of models.
type MaaSAuthPolicySpec struct {
	// ModelRefs are the models.
	// +kubebuilder:validation:MinItems=1
	ModelRefs []ModelRef `json:"modelRefs"`
	// Subjects may use them; any match is enough.
	Subjects SubjectSpec `json:"subjects"`
	// MeteringMetadata attributes the usage.
	// +optional
	MeteringMetadata *Attribution `json:"meteringMetadata,omitempty"`
}

// SubjectSpec lists the subjects with access.
//
// +kubebuilder:validation:XValidation:rule="size(self.groups) > 0 || size(self.users) > 0",message="at least one group or user must be specified in subjects"
type SubjectSpec struct {
	// Groups of users.
	// +optional
	Groups []GroupReference `json:"groups,omitempty"`
	// Users by name.
	// +optional
	Users []string `json:"users,omitempty"`
}

// AuthPolicyRefStatus is the state of a generated AuthPolicy.
type AuthPolicyRefStatus struct {
	ResourceRefStatus `json:",inline"`
	// Model is the name of the MaaSModelRef.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Model string `json:"model"`
	// ModelNamespace is its namespace.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	ModelNamespace string `json:"modelNamespace"`
}

// MaaSAuthPolicyStatus is the state of a policy.
type MaaSAuthPolicyStatus struct {
	// Phase is the state as a single word.
	// +kubebuilder:validation:Enum=Pending;Active;Degraded;Failed
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// AuthPolicies are the generated ones.
	// +optional
	AuthPolicies []AuthPolicyRefStatus `json:"authPolicies,omitempty"`
	// Conditions in detail.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// MaaSAuthPolicy gives users access to models.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="AuthPolicies",type=string,JSONPath=`.status.authPolicies[*].name`,priority=1
type MaaSAuthPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +optional
	Spec *MaaSAuthPolicySpec `json:"spec,omitempty"`
	// Status is the observed state.
	// +optional
	Status MaaSAuthPolicyStatus `json:"status,omitempty"`
}

// MaaSAuthPolicyList is a list of MaaSAuthPolicy.
//
// +kubebuilder:object:root=true
type MaaSAuthPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items of the list.
	Items []MaaSAuthPolicy `json:"items"`
}
