package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Format is the kind of a service's storage.
// +kubebuilder:validation:Enum=PVC;DATABASE
type Format string

// The formats.
const (
	FormatPVC      Format = "PVC"
	FormatDatabase Format = "DATABASE"
)

// Storage configures where a service stores the data that it receives.
type Storage struct {
	// Format is the kind of the storage.
	Format Format `json:"format"`
	// Folder is the folder of the data in the volume.
	Folder string `json:"folder,omitempty"`
	// Size is the size of the volume.
	Size string `json:"size,omitempty"`
	// DatabaseConfigurations is the name of the Secret with the address and the credentials of the database.
	DatabaseConfigurations string `json:"databaseConfigurations,omitempty"`
}

// Data describes files in the folder of the storage.
type Data struct {
	// Filename is the name of the data file.
	Filename string `json:"filename,omitempty"`
	// Format is the format of the data file.
	Format string `json:"format,omitempty"`
}

// Metrics configures the interval and the batch size of metrics.
type Metrics struct {
	// Schedule is the interval between two computations.
	Schedule string `json:"schedule"`
	// BatchSize is the number of observations per computation. The default is 5000.
	BatchSize *int `json:"batchSize,omitempty"`
}

// TrustyAIServiceSpec is the desired state of a service.
type TrustyAIServiceSpec struct {
	// Replicas has no effect. There is always one replica.
	Replicas *int32 `json:"replicas,omitempty"`
	// Storage configures where data is stored.
	Storage Storage `json:"storage"`
	// Data describes the data files in the storage.
	Data *Data `json:"data,omitempty"`
	// Metrics configures the computation of metrics.
	Metrics Metrics `json:"metrics"`
}

// Migrates reports whether data is moved from a volume into the database.
func (s *TrustyAIServiceSpec) Migrates() bool {
	return s.Storage.Format == FormatDatabase && s.Storage.Folder != "" && s.Data != nil && s.Data.Filename != ""
}

// TrustyAIServiceStatus is the observed state of a service.
type TrustyAIServiceStatus struct {
	// ObservedGeneration is the metadata.generation that the controller last observed.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Phase is Ready or Not Ready.
	Phase string `json:"phase,omitempty"`
	// Replicas is never set. It is kept for compatibility.
	Replicas int32 `json:"replicas,omitempty"`
	// Conditions are the latest observations of the state of the service.
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Ready is True or False. Deprecated: use the condition Ready.
	Ready string `json:"ready,omitempty"`
}

// TrustyAIService watches models for bias and drift.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:resource:path=trustyaiservices
type TrustyAIService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   TrustyAIServiceSpec   `json:"spec,omitempty"`
	Status TrustyAIServiceStatus `json:"status,omitempty"`
}

// Hub marks the version that the other versions convert to.
func (*TrustyAIService) Hub() {}

// SetObservedGeneration stores the generation that the status belongs to.
func (s *TrustyAIService) SetObservedGeneration(generation int64) {
	s.Status.ObservedGeneration = generation
}

// TrustyAIServiceList is a list of services.
//
// +kubebuilder:object:root=true
type TrustyAIServiceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []TrustyAIService `json:"items"`
}
