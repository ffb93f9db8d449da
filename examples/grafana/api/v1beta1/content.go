package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// GrafanaCommonSpec selects the instances of a resource inside of Grafana.
type GrafanaCommonSpec struct {
	// InstanceSelector selects the Grafana objects by their labels.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec.instanceSelector is immutable"
	InstanceSelector *metav1.LabelSelector `json:"instanceSelector"`
	// AllowCrossNamespaceImport selects Grafana objects in all namespaces, not only in that of the resource.
	AllowCrossNamespaceImport bool `json:"allowCrossNamespaceImport,omitempty"`
	// ResyncPeriod is how often the resource is compared with Grafana.
	// +kubebuilder:default="10m0s"
	ResyncPeriod metav1.Duration `json:"resyncPeriod,omitempty"`
	// Suspend stops all changes in Grafana.
	Suspend bool `json:"suspend,omitempty"`
}

// GrafanaCommonStatus is the observed state of a resource inside of Grafana.
type GrafanaCommonStatus struct {
	// UID is the uid of the resource in each instance.
	UID string `json:"uid,omitempty"`
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// The conditions of resources inside of Grafana.
const (
	NoMatchingInstance    = "NoMatchingInstance"
	FolderSynchronized    = "FolderSynchronized"
	DashboardSynchronized = "DashboardSynchronized"
)
