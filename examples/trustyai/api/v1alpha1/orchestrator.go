package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AutoConfig generates the configuration from the InferenceServices of the namespace.
type AutoConfig struct {
	// InferenceServiceToGuardrail is the name of the InferenceService that generates text, or its URL.
	InferenceServiceToGuardrail string `json:"inferenceServiceToGuardrail"`
	// DetectorServiceLabelToMatch is the label, with the value true, of the InferenceServices that detect. Default trustyai/guardrails.
	DetectorServiceLabelToMatch string `json:"detectorServiceLabelToMatch,omitempty"`
}

// OTelExporter configures the destination of traces and metrics.
type OTelExporter struct {
	// Protocol is the protocol for traces and metrics.
	// +kubebuilder:default=grpc
	Protocol string `json:"otlpProtocol,omitempty"`
	// TracesEndpoint is the endpoint for traces.
	TracesEndpoint string `json:"otlpTracesEndpoint,omitempty"`
	// MetricsEndpoint is the endpoint for metrics.
	MetricsEndpoint string `json:"otlpMetricsEndpoint,omitempty"`
	// EnableTraces enables traces.
	EnableTraces bool `json:"enableTraces,omitempty"`
	// EnableMetrics enables metrics.
	EnableMetrics bool `json:"enableMetrics,omitempty"`
}

// GuardrailsOrchestratorSpec is the desired state of an orchestrator.
type GuardrailsOrchestratorSpec struct {
	// Replicas has no effect. There is always one replica.
	Replicas int32 `json:"replicas"`
	// OrchestratorConfig is the name of the ConfigMap with the configuration. It takes precedence over autoConfig.
	OrchestratorConfig *string `json:"orchestratorConfig,omitempty"`
	// AutoConfig generates the configuration of the orchestrator.
	AutoConfig *AutoConfig `json:"autoConfig,omitempty"`
	// EnableBuiltInDetectors runs the built-in detectors in the pods of the orchestrator.
	EnableBuiltInDetectors bool `json:"enableBuiltInDetectors,omitempty"`
	// CustomDetectorsConfig is the name of the ConfigMap with the file custom_detectors.py for the built-in detectors.
	CustomDetectorsConfig *string `json:"customDetectorsConfig,omitempty"`
	// EnableGuardrailsGateway runs the gateway in the pods of the orchestrator.
	EnableGuardrailsGateway bool `json:"enableGuardrailsGateway,omitempty"`
	// GuardrailsGatewayConfig is the ConfigMap with the configuration of the gateway.
	GuardrailsGatewayConfig *string `json:"guardrailsGatewayConfig,omitempty"`
	// OTelExporter configures the destination of traces and metrics.
	OTelExporter OTelExporter `json:"otelExporter,omitzero"`
	// LogLevel is the log level of the containers. The default is info.
	LogLevel string `json:"logLevel,omitempty"`
	// TLSSecrets are mounted into the orchestrator.
	TLSSecrets []string `json:"tlsSecrets,omitempty"`
	// Env contains environment variables of all containers except the proxies.
	Env []corev1.EnvVar `json:"env,omitempty"`
	// DisableOrchestrator runs only the built-in detectors.
	DisableOrchestrator bool `json:"disableOrchestrator,omitempty"`
}

// DetectedService is an InferenceService that the operator found.
type DetectedService struct {
	Name      string `json:"name,omitempty"`
	Type      string `json:"type,omitempty"`
	Scheme    string `json:"scheme,omitempty"`
	Hostname  string `json:"hostname,omitempty"`
	Port      string `json:"port,omitempty"`
	TLSSecret string `json:"tlsSecret,omitempty"`
}

// AutoConfigState is the generated configuration.
type AutoConfigState struct {
	// GeneratedConfigMap is the configuration of the orchestrator.
	GeneratedConfigMap *string `json:"generatedConfigMap,omitempty"`
	// GeneratedGatewayConfigMap is the configuration of the gateway.
	GeneratedGatewayConfigMap *string `json:"generatedGatewayConfigMap,omitempty"`
	// LastGenerated is the time at which the configuration was first generated.
	LastGenerated string `json:"lastGenerated,omitempty"`
	// GenerationService is the InferenceService that generates text.
	GenerationService DetectedService `json:"generationService,omitzero"`
	// DetectorServices are the InferenceServices that run detectors.
	DetectorServices []DetectedService `json:"detectorServices,omitempty"`
	// ConfigurationHash is never set. It is kept for compatibility.
	ConfigurationHash string `json:"configurationHash,omitempty"`
	// Status is the status of the generation. The only value is Completed.
	Status string `json:"status,omitempty"`
	// Message contains the number of services.
	Message string `json:"message,omitempty"`
}

// GuardrailsStatus contains the status fields that both kinds of guardrails share.
type GuardrailsStatus struct {
	// Phase is Progressing, Ready or Error.
	Phase string `json:"phase,omitempty"`
	// Conditions are the latest observations of the state of the object.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// GuardrailsOrchestratorStatus is the observed state of an orchestrator.
type GuardrailsOrchestratorStatus struct {
	GuardrailsStatus `json:",inline"`
	// AutoConfigState is the generated configuration.
	AutoConfigState *AutoConfigState `json:"autoConfigState,omitempty"`
}

// GuardrailsOrchestrator runs detectors on the input and output of a model.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type GuardrailsOrchestrator struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   GuardrailsOrchestratorSpec   `json:"spec,omitempty"`
	Status GuardrailsOrchestratorStatus `json:"status,omitempty"`
}

// GuardrailsOrchestratorList is a list of orchestrators.
//
// +kubebuilder:object:root=true
type GuardrailsOrchestratorList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []GuardrailsOrchestrator `json:"items"`
}
