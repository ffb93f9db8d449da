package v1alpha1

import (
	"github.com/reconcilekit/reconcilekit/health"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TenantName is the only name that a Tenant may have.
const TenantName = "default-tenant"

// TenantSpec configures the platform.
type TenantSpec struct {
	// GatewayRef refers to the Gateway that serves all models.
	// +optional
	GatewayRef *TenantGatewayRef `json:"gatewayRef,omitempty"`
	// APIKeys configures the API keys of users.
	// +optional
	APIKeys *TenantAPIKeys `json:"apiKeys,omitempty"`
	// ExternalOIDC configures an identity provider whose users may use the models.
	// +optional
	ExternalOIDC *TenantExternalOIDC `json:"externalOIDC,omitempty"`
	// Telemetry configures metrics.
	// +optional
	Telemetry *TenantTelemetry `json:"telemetry,omitempty"`
}

// TenantGatewayRef refers to a Gateway.
type TenantGatewayRef struct {
	// Namespace is the namespace of the Gateway.
	// +kubebuilder:default=openshift-ingress
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// Name is the name of the Gateway.
	// +kubebuilder:default=maas-default-gateway
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$`
	// +optional
	Name string `json:"name,omitempty"`
}

// TenantAPIKeys configures API keys.
type TenantAPIKeys struct {
	// MaxExpirationDays is the maximum lifetime of an API key in days.
	// +kubebuilder:validation:Minimum=1
	// +optional
	MaxExpirationDays *int32 `json:"maxExpirationDays,omitempty"`
}

// TenantExternalOIDC configures an OpenID Connect identity provider.
type TenantExternalOIDC struct {
	// IssuerURL is the issuer URL of the provider.
	// +kubebuilder:validation:MinLength=9
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:Pattern=`^https://\S+$`
	IssuerURL string `json:"issuerUrl"`
	// ClientID is the required audience of tokens.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^\S+$`
	ClientID string `json:"clientId"`
	// TTL is the time in seconds for which the keys of the provider are cached.
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=30
	// +optional
	TTL int `json:"ttl,omitempty"`
}

// TenantTelemetry configures metrics.
type TenantTelemetry struct {
	// Enabled enables metrics.
	// +kubebuilder:default=true
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Metrics selects the labels of the metrics.
	// +optional
	Metrics *TenantMetrics `json:"metrics,omitempty"`
}

// TenantMetrics selects the labels of the metrics.
type TenantMetrics struct {
	// CaptureOrganization adds a label for the organization.
	// +kubebuilder:default=true
	// +optional
	CaptureOrganization *bool `json:"captureOrganization,omitempty"`
	// CaptureUser adds a label for the user. User names can be personal data.
	// +kubebuilder:default=false
	// +optional
	CaptureUser *bool `json:"captureUser,omitempty"`
	// CaptureGroup adds a label for the group.
	// +kubebuilder:default=false
	// +optional
	CaptureGroup *bool `json:"captureGroup,omitempty"`
	// CaptureModelUsage adds a label for the model.
	// +kubebuilder:default=true
	// +optional
	CaptureModelUsage *bool `json:"captureModelUsage,omitempty"`
}

// TenantStatus is the state of the platform.
type TenantStatus struct {
	// Phase summarizes the conditions in one word.
	// +kubebuilder:validation:Enum=Pending;Active;Degraded;Failed
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// Conditions are the latest observations of the state of the object.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Tenant configures the platform. The only valid name is default-tenant.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'default-tenant'",message="Tenant name must be default-tenant"
type Tenant struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +optional
	Spec *TenantSpec `json:"spec,omitempty"`
	// Status is the observed state.
	// +optional
	Status TenantStatus `json:"status,omitempty"`
}

// SetState sets the phase for failures that the rest of the status does not report.
func (o *Tenant) SetState(state health.State) {
	if state.Failing() {
		o.Status.Phase = PhaseFailed
	}
}

// TenantList is a list of Tenant.
//
// +kubebuilder:object:root=true
type TenantList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the objects of the list.
	Items []Tenant `json:"items"`
}
