package v1beta1

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GrafanaFolder is a folder in each of the selected instances.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
type GrafanaFolder struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              GrafanaFolderSpec   `json:"spec"`
	Status            GrafanaFolderStatus `json:"status,omitempty"`
}

// GrafanaFolderSpec defines the desired state of GrafanaFolder.
// +kubebuilder:validation:XValidation:rule="has(self.uid) == has(oldSelf.uid) && (!has(self.uid) || self.uid == oldSelf.uid)",message="spec.uid is immutable"
type GrafanaFolderSpec struct {
	GrafanaCommonSpec `json:",inline"`
	// UID is the uid of the folder in Grafana. The default is metadata.uid.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9_-]{1,40}$`
	UID string `json:"uid,omitempty"`
	// Title is the title of the folder. The default is metadata.name.
	Title string `json:"title,omitempty"`
}

// GrafanaFolderStatus defines the observed state of GrafanaFolder.
type GrafanaFolderStatus struct {
	GrafanaCommonStatus `json:",inline"`
}

// FolderUID returns the uid of the folder in Grafana.
func (f *GrafanaFolder) FolderUID() string { return cmp.Or(f.Spec.UID, string(f.UID)) }

// GrafanaFolderList contains a list of GrafanaFolder.
// +kubebuilder:object:root=true
type GrafanaFolderList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GrafanaFolder `json:"items"`
}
