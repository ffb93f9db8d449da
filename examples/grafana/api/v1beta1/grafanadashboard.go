package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GrafanaDashboard is a dashboard in each of the selected instances.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
type GrafanaDashboard struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              GrafanaDashboardSpec   `json:"spec"`
	Status            GrafanaDashboardStatus `json:"status,omitempty"`
}

// GrafanaDashboardSpec defines the desired state of GrafanaDashboard.
// +kubebuilder:validation:XValidation:rule="has(self.uid) == has(oldSelf.uid) && (!has(self.uid) || self.uid == oldSelf.uid)",message="spec.uid is immutable"
// +kubebuilder:validation:XValidation:rule="has(self.json) != has(self.configMapRef)",message="want one of spec.json and spec.configMapRef"
// +kubebuilder:validation:XValidation:rule="!has(self.folderRef) || !has(self.folderUID)",message="want only one of spec.folderRef and spec.folderUID"
type GrafanaDashboardSpec struct {
	GrafanaCommonSpec `json:",inline"`
	// UID is the uid of the dashboard in Grafana. The default is the uid in the model, then metadata.uid.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9_-]{1,40}$`
	UID string `json:"uid,omitempty"`
	// JSON is the model of the dashboard.
	JSON string `json:"json,omitempty"`
	// ConfigMapRef is the key of a ConfigMap with the model.
	ConfigMapRef *corev1.ConfigMapKeySelector `json:"configMapRef,omitempty"`
	// FolderRef is the name of a GrafanaFolder in the same namespace.
	FolderRef string `json:"folderRef,omitempty"`
	// FolderUID is the uid of a folder in Grafana. By default the dashboard is in no folder.
	FolderUID string `json:"folderUID,omitempty"`
	// Datasources replaces the inputs of the model by the names of data sources.
	// +listType=map
	// +listMapKey=inputName
	Datasources []GrafanaDashboardDatasource `json:"datasources,omitempty"`
}

// GrafanaDashboardDatasource is the data source for an input of the model, such as DS_PROMETHEUS.
type GrafanaDashboardDatasource struct {
	InputName      string `json:"inputName"`
	DatasourceName string `json:"datasourceName"`
}

// GrafanaDashboardStatus defines the observed state of GrafanaDashboard.
type GrafanaDashboardStatus struct {
	GrafanaCommonStatus `json:",inline"`
}

// GrafanaDashboardList contains a list of GrafanaDashboard.
// +kubebuilder:object:root=true
type GrafanaDashboardList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GrafanaDashboard `json:"items"`
}
