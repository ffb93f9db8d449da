package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Database configures the database of a hub.
type Database struct {
	// Type is the type of the database.
	// +kubebuilder:validation:Enum=sqlite;postgresql
	Type string `json:"type"`
	// Secret is the name of the Secret whose key db-url has the address of the database. Required for postgresql.
	Secret string `json:"secret,omitempty"`
	// MaxOpenConns is the maximum number of open connections.
	// +kubebuilder:default=25
	MaxOpenConns *int `json:"maxOpenConns,omitempty"`
	// MaxIdleConns is the maximum number of idle connections.
	// +kubebuilder:default=5
	MaxIdleConns *int `json:"maxIdleConns,omitempty"`
}

// Exporter configures the destination of traces and metrics in both versions.
type Exporter struct {
	// ExporterType is the protocol of the exporter.
	// +kubebuilder:validation:Enum=otlp-grpc;otlp-http;stdout
	// +kubebuilder:default=otlp-grpc
	ExporterType string `json:"exporterType,omitempty"`
	// ExporterEndpoint is the address of the collector.
	ExporterEndpoint string `json:"exporterEndpoint,omitempty"`
	// ExporterInsecure disables TLS.
	// +kubebuilder:default=false
	ExporterInsecure *bool `json:"exporterInsecure,omitempty"`
	// SamplingRatio is the fraction of traces to send, from 0 to 1.
	// +kubebuilder:default="1.0"
	SamplingRatio string `json:"samplingRatio,omitempty"`
	// EnableTracing enables traces.
	// +kubebuilder:default=true
	EnableTracing *bool `json:"enableTracing,omitempty"`
	// EnableMetrics enables metrics.
	EnableMetrics *bool `json:"enableMetrics,omitempty"`
	// EnableLogs enables logs.
	EnableLogs *bool `json:"enableLogs,omitempty"`
}

// Duration is a duration in the syntax of Go, such as 1m30s.
// +kubebuilder:validation:Pattern=`^((\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+)$`
type Duration string

// Telemetry configures OpenTelemetry.
type Telemetry struct {
	Exporter `json:",inline"`
	// ServiceName is the name of the hub in traces.
	ServiceName string `json:"serviceName,omitempty"`
	// EnableJobContainerLogs enables logs of jobs. It requires enableLogs.
	EnableJobContainerLogs     *bool `json:"enableJobContainerLogs,omitempty"`
	EnableEcsResourceDetection *bool `json:"enableEcsResourceDetection,omitempty"`
	DisableRedirectOtelLogs    *bool `json:"disableRedirectOtelLogs,omitempty"`
	DisableDatabaseOtelScans   *bool `json:"disableDatabaseOtelScans,omitempty"`
	// The intervals between two exports.
	TracerTimeout        Duration `json:"tracerTimeout,omitempty"`
	TracerBatchInterval  Duration `json:"tracerBatchInterval,omitempty"`
	MetricExportInterval Duration `json:"metricExportInterval,omitempty"`
}

// Transport is the protocol of an MCP connection.
// +kubebuilder:validation:Enum=http-sse;http
type Transport string

// MCP configures the Model Context Protocol server of a hub.
type MCP struct {
	// Enabled runs the MCP server.
	Enabled *bool `json:"enabled,omitempty"`
	// Replicas is the number of replicas.
	// +kubebuilder:validation:Minimum=1
	Replicas *int32 `json:"replicas,omitempty"`
	// Transport is the protocol between clients and the MCP server.
	// +kubebuilder:default=http
	Transport Transport `json:"transport,omitempty"`
	// EvalHubTransport is the protocol between the MCP server and the hub. The default is transport.
	EvalHubTransport Transport `json:"evalHubTransport,omitempty"`
	// Env contains environment variables of the server.
	Env []corev1.EnvVar `json:"env,omitzero"`
	// Resources are the requests and limits of the server.
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// Image is the image of the server. The default is the image of the hub.
	Image string `json:"image,omitempty"`
	// AuthSecret is the name of the Secret whose key token has the token for the hub.
	AuthSecret string `json:"authSecret,omitempty"`
}

// CABundle names a key of a ConfigMap with certificates of authorities.
type CABundle struct {
	// Name is the name of the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
	// Key is the key of the certificates.
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

// The valid tenancies.
const (
	SingleTenancy Tenancy = "single"
	MultiTenancy  Tenancy = "multi"
)

// EvalHubBase contains the fields of both versions.
type EvalHubBase struct {
	// Replicas is the number of replicas of the server.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:default=1
	Replicas *int32 `json:"replicas,omitempty"`
	// Env contains environment variables of the server.
	Env []corev1.EnvVar `json:"env,omitzero"`
	// Providers are names of providers in the operator's catalogue that the hub offers.
	// +kubebuilder:default={garak,garak-kfp,lm-evaluation-harness}
	Providers []string `json:"providers,omitzero"`
	// Collections are names of collections in the operator's catalogue that the hub offers.
	// +kubebuilder:default={leaderboard-v2,safety-and-fairness-v1,toxicity-and-ethical-principles}
	Collections []string `json:"collections,omitzero"`
	// Database configures the database of the hub. It is required.
	Database *Database `json:"database,omitempty"`
	// MCP configures the Model Context Protocol server.
	MCP *MCP `json:"mcp,omitempty"`
}

// EvalHubSpec is the desired state of a hub.
type EvalHubSpec struct {
	EvalHubBase `json:",inline"`
	// OTel configures the export of traces, metrics and logs with OpenTelemetry.
	OTel *Telemetry `json:"otel,omitempty"`
	// MLflow configures the access to MLflow.
	MLflow *MLflow `json:"mlflow,omitempty"`
	// Tenancy defines the tenants of the hub.
	// +kubebuilder:default=multi
	Tenancy Tenancy `json:"tenancy,omitempty"`
}

// EvalHubCondition is a condition without an observed generation.
type EvalHubCondition struct {
	Type               string                 `json:"type"`
	Status             metav1.ConditionStatus `json:"status"`
	LastTransitionTime metav1.Time            `json:"lastTransitionTime,omitzero"`
	Reason             string                 `json:"reason,omitempty"`
	Message            string                 `json:"message,omitempty"`
}

// MCPStatus is the observed state of the MCP server.
type MCPStatus struct {
	// Phase is the phase of the MCP server.
	// +kubebuilder:validation:Enum=Pending;Ready;Error;Disabled
	Phase string `json:"phase,omitempty"`
	// Ready reports whether all replicas are ready.
	Ready bool `json:"ready"`
	// URL is the URL of the server's Service.
	URL string `json:"url,omitempty"`
	// Conditions are the latest observations of the state of the server.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// EvalHubStatus is the observed state of a hub.
type EvalHubStatus struct {
	// Phase is the phase of the hub.
	// +kubebuilder:validation:Enum=Pending;Ready;Error
	Phase string `json:"phase,omitempty"`
	// Replicas and ReadyReplicas are the replicas of the Deployment.
	Replicas      int32 `json:"replicas,omitempty"`
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`
	// Conditions are the latest observations of the state of the hub.
	Conditions []EvalHubCondition `json:"conditions,omitempty"`
	// Ready reports as True or False whether the hub is ready.
	Ready string `json:"ready,omitempty"`
	// URL is the URL of the hub in the cluster.
	URL string `json:"url,omitempty"`
	// ActiveProviders and ActiveCollections are the providers and collections that the hub offers.
	ActiveProviders   []string `json:"activeProviders,omitempty"`
	ActiveCollections []string `json:"activeCollections,omitempty"`
	// LastUpdateTime is no longer set, because it would change the status in each reconciliation.
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
