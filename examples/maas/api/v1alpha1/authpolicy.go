package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MaaSAuthPolicySpec is the desired state of a policy: models and the subjects that may use them.
type MaaSAuthPolicySpec struct {
	// ModelRefs are the models that the subjects may use.
	// +kubebuilder:validation:MinItems=1
	ModelRefs []ModelRef `json:"modelRefs"`
	// Subjects are the users and groups that may use the models. A user must match one of them.
	Subjects SubjectSpec `json:"subjects"`
	// MeteringMetadata attributes the usage to an organization and a cost center.
	// +optional
	MeteringMetadata *Attribution `json:"meteringMetadata,omitempty"`
}

// SubjectSpec lists the subjects with access.
//
// +kubebuilder:validation:XValidation:rule="size(self.groups) > 0 || size(self.users) > 0",message="at least one group or user must be specified in subjects"
type SubjectSpec struct {
	// Groups are groups of users.
	// +optional
	Groups []GroupReference `json:"groups,omitempty"`
	// Users are names of users.
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
	// ModelNamespace is the namespace of the MaaSModelRef.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	ModelNamespace string `json:"modelNamespace"`
}

// MaaSAuthPolicyStatus is the observed state of a policy.
type MaaSAuthPolicyStatus struct {
	// Phase summarizes the conditions in one word.
	// +kubebuilder:validation:Enum=Pending;Active;Degraded;Failed
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// AuthPolicies are the states of the generated AuthPolicies.
	// +optional
	AuthPolicies []AuthPolicyRefStatus `json:"authPolicies,omitempty"`
	// Conditions are the latest observations of the state of the object.
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
	// Items are the objects of the list.
	Items []MaaSAuthPolicy `json:"items"`
}
