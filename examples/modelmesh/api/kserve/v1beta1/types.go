package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// InferenceService is a model that KServe serves, or ModelMesh if the annotation selects it.
//
// +kubebuilder:object:root=true
type InferenceService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   InferenceServiceSpec   `json:"spec,omitzero"`
	Status InferenceServiceStatus `json:"status,omitzero"`
}

// InferenceServiceList is a list of inference services.
//
// +kubebuilder:object:root=true
type InferenceServiceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []InferenceService `json:"items"`
}

// InferenceServiceSpec describes the served model.
type InferenceServiceSpec struct {
	Predictor Predictor `json:"predictor"`
}

// Predictor has the model, in the field Model or in that of its framework.
type Predictor struct {
	Model *Model `json:"model,omitempty"`

	XGBoost    *Source `json:"xgboost,omitempty"`
	LightGBM   *Source `json:"lightgbm,omitempty"`
	SKLearn    *Source `json:"sklearn,omitempty"`
	Tensorflow *Source `json:"tensorflow,omitempty"`
	ONNX       *Source `json:"onnx,omitempty"`
	PyTorch    *Source `json:"pytorch,omitempty"`
	Triton     *Source `json:"triton,omitempty"`
	PMML       *Source `json:"pmml,omitempty"`
}

// Model is a model of any format.
type Model struct {
	ModelFormat     ModelFormat `json:"modelFormat"`
	Runtime         *string     `json:"runtime,omitempty"`
	ProtocolVersion *string     `json:"protocolVersion,omitempty"`
	Source          `json:",inline"`
}

// ModelFormat is the framework of a model.
type ModelFormat struct {
	Name    string  `json:"name"`
	Version *string `json:"version,omitempty"`
}

// Source is the location of a model.
type Source struct {
	StorageURI *string  `json:"storageUri,omitempty"`
	Storage    *Storage `json:"storage,omitempty"`
}

// Storage names a model in a store that an entry of the storage Secret describes.
type Storage struct {
	Path       *string           `json:"path,omitempty"`
	SchemaPath *string           `json:"schemaPath,omitempty"`
	Key        *string           `json:"key,omitempty"`
	Parameters map[string]string `json:"parameters,omitempty"`
}

// InferenceServiceStatus has the fields of the status that the operator writes.
type InferenceServiceStatus struct {
	URL        string               `json:"url,omitempty"`
	Components map[string]Component `json:"components,omitempty"`
	// Conditions have the format of KServe. KServe writes some of them.
	Conditions  []Condition  `json:"conditions,omitempty"`
	ModelStatus *ModelStatus `json:"modelStatus,omitempty"`
}

// Component contains the addresses of a component of an inference service.
type Component struct {
	URL     string `json:"url,omitempty"`
	GRPCURL string `json:"grpcUrl,omitempty"`
	RESTURL string `json:"restUrl,omitempty"`
}

// Condition is a condition without observedGeneration, with a severity. The list of them is no map list: a writer sends all.
type Condition struct {
	Type     string                 `json:"type"`
	Status   metav1.ConditionStatus `json:"status"`
	Severity string                 `json:"severity,omitempty"`
	Reason   string                 `json:"reason,omitempty"`
	Message  string                 `json:"message,omitempty"`
	// LastTransitionTime is a text, so that a time of another form is kept.
	LastTransitionTime string `json:"lastTransitionTime,omitempty"`
}

// ModelStatus is the state of the model.
type ModelStatus struct {
	TransitionStatus string       `json:"transitionStatus"`
	States           *States      `json:"states,omitempty"`
	Copies           *Copies      `json:"copies,omitempty"`
	LastFailureInfo  *FailureInfo `json:"lastFailureInfo,omitempty"`
}

// States are the states of the active and the target model.
type States struct {
	ActiveModelState string `json:"activeModelState"`
	TargetModelState string `json:"targetModelState"`
}

// Copies counts the copies of both models.
type Copies struct {
	FailedCopies int `json:"failedCopies"`
	TotalCopies  int `json:"totalCopies"`
}

// FailureInfo describes the last failure.
type FailureInfo struct {
	Location          string       `json:"location,omitempty"`
	Reason            string       `json:"reason,omitempty"`
	Message           string       `json:"message,omitempty"`
	ModelRevisionName string       `json:"modelRevisionName,omitempty"`
	Time              *metav1.Time `json:"time,omitempty"`
}
