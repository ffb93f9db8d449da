package v1alpha1

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
)

// EvalHubSpec is the desired state of a hub. It has no tenancy, because hubs of this version serve all tenants.
type EvalHubSpec struct {
	v1.EvalHubBase `json:",inline"`
	// OTel configures the destination of traces and metrics.
	OTel *v1.Exporter `json:"otel,omitempty"`
}

// EvalHub is the older version of the kind EvalHub.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.ready`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type EvalHub struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   EvalHubSpec      `json:"spec,omitempty"`
	Status v1.EvalHubStatus `json:"status,omitempty"`
}

// EvalHubList is a list of hubs.
//
// +kubebuilder:object:root=true
type EvalHubList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []EvalHub `json:"items"`
}

// newerHub contains the fields of a hub that only v1 has.
type newerHub struct {
	OTel    *v1.Telemetry `json:"otel,omitempty"`
	MLflow  *v1.MLflow    `json:"mlflow,omitempty"`
	Tenancy v1.Tenancy    `json:"tenancy,omitempty"`
}

// ConvertTo converts the object to v1, with the fields in the annotation. The exporter is the one of this version.
func (h *EvalHub) ConvertTo(hub conversion.Hub) error {
	to, ok := hub.(*v1.EvalHub)
	if !ok {
		return fmt.Errorf("convert EvalHub to %T: want *v1.EvalHub", hub)
	}
	var kept newerHub
	to.ObjectMeta, to.Status = h.ObjectMeta, h.Status
	if err := recall(to, &kept); err != nil {
		return err
	}
	to.Spec = v1.EvalHubSpec{EvalHubBase: h.Spec.EvalHubBase, MLflow: kept.MLflow, Tenancy: kept.Tenancy}
	if to.Spec.Tenancy == "" {
		to.Spec.Tenancy = v1.MultiTenancy
	}
	if h.Spec.OTel != nil {
		to.Spec.OTel = kept.OTel
		if to.Spec.OTel == nil {
			to.Spec.OTel = &v1.Telemetry{}
		}
		to.Spec.OTel.Exporter = *h.Spec.OTel
	}
	return nil
}

// ConvertFrom converts the object from v1.
func (h *EvalHub) ConvertFrom(hub conversion.Hub) error {
	from, ok := hub.(*v1.EvalHub)
	if !ok {
		return fmt.Errorf("convert %T to EvalHub: want *v1.EvalHub", hub)
	}
	h.ObjectMeta, h.Status = from.ObjectMeta, from.Status
	h.Spec = EvalHubSpec{EvalHubBase: from.Spec.EvalHubBase}
	kept := newerHub{MLflow: from.Spec.MLflow}
	if from.Spec.Tenancy != v1.MultiTenancy {
		kept.Tenancy = from.Spec.Tenancy
	}
	if from.Spec.OTel != nil {
		exporter, rest := from.Spec.OTel.Exporter, *from.Spec.OTel
		h.Spec.OTel = &exporter
		if rest.Exporter = (v1.Exporter{}); rest != (v1.Telemetry{}) {
			kept.OTel = &rest
		}
	}
	return remember(h, kept, kept == (newerHub{}))
}
