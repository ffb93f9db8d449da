package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Database of a hub.
type Database struct {
	// Type of the database.
	// +kubebuilder:validation:Enum=sqlite;postgresql
	Type string `json:"type"`
	// Secret with the address of the database under the key db-url. Required for postgresql.
	Secret string `json:"secret,omitempty"`
	// MaxOpenConns limits the connections.
	// +kubebuilder:default=25
	MaxOpenConns *int `json:"maxOpenConns,omitempty"`
	// MaxIdleConns limits the idle connections.
	// +kubebuilder:default=5
	MaxIdleConns *int `json:"maxIdleConns,omitempty"`
}

// Exporter configures the destination of traces and metrics in both versions.
type Exporter struct {
	// ExporterType is the protocol.
	// +kubebuilder:validation:Enum=otlp-grpc;otlp-http;stdout
	// +kubebuilder:default=otlp-grpc
	ExporterType string `json:"exporterType,omitempty"`
	// ExporterEndpoint is the address of the collector.
	ExporterEndpoint string `json:"exporterEndpoint,omitempty"`
	// ExporterInsecure sends without TLS.
	// +kubebuilder:default=false
	ExporterInsecure *bool `json:"exporterInsecure,omitempty"`
	// SamplingRatio is a number from 0 to 1.
	// +kubebuilder:default="1.0"
	SamplingRatio string `json:"samplingRatio,omitempty"`
	// EnableTracing sends traces.
	// +kubebuilder:default=true
	EnableTracing *bool `json:"enableTracing,omitempty"`
	// EnableMetrics sends metrics.
	EnableMetrics *bool `json:"enableMetrics,omitempty"`
	// EnableLogs sends logs.
	EnableLogs *bool `json:"enableLogs,omitempty"`
}

// Duration is one of Go, such as 1m30s.
// +kubebuilder:validation:Pattern=`^((\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+)$`
type Duration string

// Telemetry configures OpenTelemetry.
type Telemetry struct {
	Exporter `json:",inline"`
	// ServiceName names the hub in traces.
	ServiceName string `json:"serviceName,omitempty"`
	// EnableJobContainerLogs sends the logs of jobs. It needs EnableLogs.
	EnableJobContainerLogs     *bool `json:"enableJobContainerLogs,omitempty"`
	EnableEcsResourceDetection *bool `json:"enableEcsResourceDetection,omitempty"`
	DisableRedirectOtelLogs    *bool `json:"disableRedirectOtelLogs,omitempty"`
	DisableDatabaseOtelScans   *bool `json:"disableDatabaseOtelScans,omitempty"`
	// The times after which something is sent.
	TracerTimeout        Duration `json:"tracerTimeout,omitempty"`
	TracerBatchInterval  Duration `json:"tracerBatchInterval,omitempty"`
	MetricExportInterval Duration `json:"metricExportInterval,omitempty"`
}

// Transport is a protocol of the MCP server.
// +kubebuilder:validation:Enum=http-sse;http
type Transport string

// MCP is the server by which a language model uses the hub.
type MCP struct {
	// Enabled runs it.
	Enabled *bool `json:"enabled,omitempty"`
	// Replicas of it.
	// +kubebuilder:validation:Minimum=1
	Replicas *int32 `json:"replicas,omitempty"`
	// Transport towards its clients.
	// +kubebuilder:default=http
	Transport Transport `json:"transport,omitempty"`
	// EvalHubTransport is the one towards the hub. Default Transport.
	EvalHubTransport Transport `json:"evalHubTransport,omitempty"`
	// Env of the server.
	Env []corev1.EnvVar `json:"env,omitzero"`
	// Resources of the server.
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// Image of the server. Default that of the hub.
	Image string `json:"image,omitempty"`
	// AuthSecret has the token for the hub under the key token.
	AuthSecret string `json:"authSecret,omitempty"`
}

// CABundle is a key of a ConfigMap with certificates of authorities.
type CABundle struct {
	// Name of the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
	// Key of the certificates.
	// +kubebuilder:default=ca-bundle.crt
	Key string `json:"key,omitempty"`
}

// MLflowTLS configures the verification of MLflow's certificate.
type MLflowTLS struct {
	CABundle *CABundle `json:"caBundle,omitempty"`
}

// MLflow configures the access to MLflow.
type MLflow struct {
	TLS *MLflowTLS `json:"tls,omitempty"`
}

// Tenancy defines the tenants of a hub: its own namespace, or all namespaces with the label of tenants.
// +kubebuilder:validation:Enum=single;multi
type Tenancy string

// The tenancies.
const (
	SingleTenancy Tenancy = "single"
	MultiTenancy  Tenancy = "multi"
)

// EvalHubBase contains the fields of both versions.
type EvalHubBase struct {
	// Replicas of the server.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:default=1
	Replicas *int32 `json:"replicas,omitempty"`
	// Env of the server.
	Env []corev1.EnvVar `json:"env,omitzero"`
	// Providers of the operator's catalogue that the hub offers.
	// +kubebuilder:default={garak,garak-kfp,lm-evaluation-harness}
	Providers []string `json:"providers,omitzero"`
	// Collections of the operator's catalogue that the hub offers.
	// +kubebuilder:default={leaderboard-v2,safety-and-fairness-v1,toxicity-and-ethical-principles}
	Collections []string `json:"collections,omitzero"`
	// Database of the hub. The operator needs one.
	Database *Database `json:"database,omitempty"`
	// MCP is the server for language models.
	MCP *MCP `json:"mcp,omitempty"`
}

// EvalHubSpec is the desired state of a hub.
type EvalHubSpec struct {
	EvalHubBase `json:",inline"`
	// OTel configures OpenTelemetry.
	OTel *Telemetry `json:"otel,omitempty"`
	// MLflow configures the access to MLflow.
	MLflow *MLflow `json:"mlflow,omitempty"`
	// Tenancy defines the tenants of the hub.
	// +kubebuilder:default=multi
	Tenancy Tenancy `json:"tenancy,omitempty"`
}

// EvalHubCondition is one without an observed generation.
type EvalHubCondition struct {
	Type               string                 `json:"type"`
	Status             metav1.ConditionStatus `json:"status"`
	LastTransitionTime metav1.Time            `json:"lastTransitionTime,omitzero"`
	Reason             string                 `json:"reason,omitempty"`
	Message            string                 `json:"message,omitempty"`
}

// MCPStatus is the observed state of the MCP server.
type MCPStatus struct {
	// Phase of it.
	// +kubebuilder:validation:Enum=Pending;Ready;Error;Disabled
	Phase string `json:"phase,omitempty"`
	// Ready reports whether all its replicas are.
	Ready bool `json:"ready"`
	// URL of its Service.
	URL string `json:"url,omitempty"`
	// Conditions of it.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// EvalHubStatus is the observed state of a hub.
type EvalHubStatus struct {
	// Phase of the hub.
	// +kubebuilder:validation:Enum=Pending;Ready;Error
	Phase string `json:"phase,omitempty"`
	// Replicas and ReadyReplicas are the replicas of the Deployment.
	Replicas      int32 `json:"replicas,omitempty"`
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`
	// Conditions of the hub.
	Conditions []EvalHubCondition `json:"conditions,omitempty"`
	// Ready is True or False.
	Ready string `json:"ready,omitempty"`
	// URL of the hub in the cluster.
	URL string `json:"url,omitempty"`
	// ActiveProviders and ActiveCollections are available in the hub.
	ActiveProviders   []string `json:"activeProviders,omitempty"`
	ActiveCollections []string `json:"activeCollections,omitempty"`
	// LastUpdateTime is not set any more: it would change the hub in each pass.
	LastUpdateTime *metav1.Time `json:"lastUpdateTime,omitempty"`
	// MCP is the observed state of the MCP server.
	MCP *MCPStatus `json:"mcp,omitempty"`
}

// EvalHub runs evaluations for tenants.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.ready`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type EvalHub struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   EvalHubSpec   `json:"spec,omitempty"`
	Status EvalHubStatus `json:"status,omitempty"`
}

// Hub marks the version that the other versions convert to.
func (*EvalHub) Hub() {}

// EvalHubList is a list of hubs.
//
// +kubebuilder:object:root=true
type EvalHubList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []EvalHub `json:"items"`
}
