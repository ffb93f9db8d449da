package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta1 "github.com/reconcilekit/reconcilekit/examples/grafana/api/v1beta1"
)

// Grafana is a Grafana server: one that the operator runs, or an external one that exists already.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.baseImage`
type Grafana struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              GrafanaSpec           `json:"spec,omitempty"`
	Status            v1beta1.GrafanaStatus `json:"status,omitempty"`
}

// GrafanaSpec defines the desired state of Grafana. The fields are those of v1beta1, except for the first two.
type GrafanaSpec struct {
	// BaseImage is the image of the server, or a tag of docker.io/grafana/grafana.
	BaseImage string `json:"baseImage,omitempty"`
	// DashboardLabelSelector has no effect: a dashboard selects its instances since v1beta1.
	// +listType=atomic
	DashboardLabelSelector []metav1.LabelSelector `json:"dashboardLabelSelector,omitempty"`

	Config                    map[string]map[string]string `json:"config,omitempty"`
	Deployment                *v1beta1.Override            `json:"deployment,omitempty"`
	Service                   *v1beta1.Override            `json:"service,omitempty"`
	PersistentVolumeClaim     *v1beta1.Override            `json:"persistentVolumeClaim,omitempty"`
	Ingress                   *v1beta1.Override            `json:"ingress,omitempty"`
	External                  *v1beta1.External            `json:"external,omitempty"`
	DisableDefaultAdminSecret bool                         `json:"disableDefaultAdminSecret,omitempty"`
	Suspend                   bool                         `json:"suspend,omitempty"`
}

// GrafanaList contains a list of Grafana.
// +kubebuilder:object:root=true
type GrafanaList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Grafana `json:"items"`
}
