package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the kinds.
var GroupVersion = schema.GroupVersion{Group: "serving.kserve.io", Version: "v1alpha1"}

// AddToScheme registers the kinds with a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Predictor{}, &PredictorList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// Predictor is one model that ModelMesh serves.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Type",type="string",JSONPath=".spec.modelType.name"
// +kubebuilder:printcolumn:name="Available",type="boolean",JSONPath=".status.available"
// +kubebuilder:printcolumn:name="ActiveModel",type="string",JSONPath=".status.activeModelState"
// +kubebuilder:printcolumn:name="TargetModel",type="string",JSONPath=".status.targetModelState"
// +kubebuilder:printcolumn:name="Transition",type="string",JSONPath=".status.transitionStatus"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type Predictor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec PredictorSpec `json:"spec,omitzero"`
	// +kubebuilder:default={activeModelState:Pending,available:false,failedCopies:0,targetModelState:"",totalCopies:0,transitionStatus:UpToDate}
	Status PredictorStatus `json:"status,omitzero"`
}

// PredictorList is a list of predictors.
//
// +kubebuilder:object:root=true
type PredictorList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Predictor `json:"items"`
}

// PredictorSpec describes a model and its location. The id of the model contains a hash of the JSON, so the order of the fields must
// not change.
type PredictorSpec struct {
	ServiceAccountName string    `json:"serviceAccountName,omitempty"`
	ModelType          ModelType `json:"modelType"`
	// Path is the deprecated place of storage.path; it is always written.
	// +optional
	Path       string   `json:"path"`
	SchemaPath *string  `json:"schemaPath,omitempty"`
	Storage    *Storage `json:"storage,omitempty"`
	// +kubebuilder:validation:Enum=required;preferred
	GPU             string   `json:"gpu,omitempty"`
	Runtime         *Runtime `json:"runtime,omitempty"`
	ProtocolVersion *string  `json:"protocolVersion,omitempty"`
}

// ModelType is the framework of a model.
type ModelType struct {
	Name    string  `json:"name"`
	Version *string `json:"version,omitempty"`
}

// Runtime selects the runtime of a model by name.
type Runtime struct {
	Name string `json:"name"`
}

// Storage is the location of a model.
type Storage struct {
	Path                  *string           `json:"path,omitempty"`
	SchemaPath            *string           `json:"schemaPath,omitempty"`
	Parameters            map[string]string `json:"parameters,omitempty"`
	Key                   *string           `json:"key,omitempty"`
	PersistentVolumeClaim *Claim            `json:"persistentVolumeClaim,omitempty"`
	S3                    *S3               `json:"s3,omitempty"`
}

// Claim refers to a PersistentVolumeClaim. The controller rejects it.
type Claim struct {
	ClaimName string `json:"claimName"`
	ReadOnly  bool   `json:"readOnly,omitempty"`
}

// S3 is the deprecated format for a model in S3.
type S3 struct {
	SecretKey string  `json:"secretKey"`
	Bucket    *string `json:"bucket,omitempty"`
}

// The states of a model.
const (
	Pending      = "Pending"
	Standby      = "Standby"
	Loading      = "Loading"
	Loaded       = "Loaded"
	FailedToLoad = "FailedToLoad"
)

// The states of a model's update.
const (
	UpToDate            = "UpToDate"
	InProgress          = "InProgress"
	BlockedByFailedLoad = "BlockedByFailedLoad"
	InvalidSpec         = "InvalidSpec"
)

// The reasons of failures.
const (
	ModelLoadFailed      = "ModelLoadFailed"
	RuntimeUnhealthy     = "RuntimeUnhealthy"
	NoSupportingRuntime  = "NoSupportingRuntime"
	RuntimeNotRecognized = "RuntimeNotRecognized"
	InvalidPredictorSpec = "InvalidPredictorSpec"
)

// PredictorStatus is the state of a model. It has no conditions.
type PredictorStatus struct {
	Available bool `json:"available"`
	// +kubebuilder:default=UpToDate
	// +kubebuilder:validation:Enum=UpToDate;InProgress;BlockedByFailedLoad;InvalidSpec
	TransitionStatus string `json:"transitionStatus"`
	// +kubebuilder:default=Pending
	// +kubebuilder:validation:Enum="";Pending;Standby;Loading;Loaded;FailedToLoad
	ActiveModelState string `json:"activeModelState"`
	// +kubebuilder:default=""
	// +kubebuilder:validation:Enum="";Pending;Standby;Loading;Loaded;FailedToLoad
	TargetModelState string       `json:"targetModelState"`
	LastFailureInfo  *FailureInfo `json:"lastFailureInfo,omitempty"`
	// +optional
	GRPCEndpoint string `json:"grpcEndpoint"`
	// +optional
	HTTPEndpoint string `json:"httpEndpoint"`
	// +kubebuilder:default=0
	FailedCopies int `json:"failedCopies"`
	// +kubebuilder:default=0
	TotalCopies int `json:"totalCopies"`
}

// FailureInfo describes the last failure.
type FailureInfo struct {
	Location string `json:"location,omitempty"`
	// +kubebuilder:validation:Enum=ModelLoadFailed;RuntimeUnhealthy;NoSupportingRuntime;RuntimeNotRecognized;InvalidPredictorSpec
	Reason  string       `json:"reason,omitempty"`
	Message string       `json:"message,omitempty"`
	ModelID string       `json:"modelId,omitempty"`
	Time    *metav1.Time `json:"time,omitempty"`
}
