package kueue

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The labels and the finalizer of Kueue.
const (
	QueueLabel  = "kueue.x-k8s.io/queue-name"
	JobUIDLabel = "kueue.x-k8s.io/job-uid"
	Finalizer   = "kueue.x-k8s.io/resource-in-use"
)

// The types of the conditions of a workload.
const (
	Admitted      = "Admitted"
	Evicted       = "Evicted"
	Finished      = "Finished"
	QuotaReserved = "QuotaReserved"
	Requeued      = "Requeued"
)

// Workload waits in a queue until its quota is available.
//
// +kubebuilder:object:root=true
type Workload struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WorkloadSpec   `json:"spec,omitzero"`
	Status WorkloadStatus `json:"status,omitzero"`
}

// WorkloadSpec describes the pods and the queue.
type WorkloadSpec struct {
	QueueName string   `json:"queueName,omitempty"`
	PodSets   []PodSet `json:"podSets,omitempty"`
}

// PodSet is a number of equal pods.
type PodSet struct {
	Name     string                 `json:"name"`
	Count    int32                  `json:"count"`
	Template corev1.PodTemplateSpec `json:"template"`
}

// WorkloadStatus is the observed state of a workload.
type WorkloadStatus struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	Admission  *Admission         `json:"admission,omitempty"`
}

// Admission is the assignment of the queue.
type Admission struct {
	ClusterQueue string       `json:"clusterQueue,omitempty"`
	Assignments  []Assignment `json:"podSetAssignments,omitempty"`
}

// Assignment assigns a flavor to each resource of a set of pods.
type Assignment struct {
	Name    string            `json:"name"`
	Flavors map[string]string `json:"flavors,omitempty"`
}

// Is reports whether the condition is True.
func (w *Workload) Is(condition string) bool {
	return meta.IsStatusConditionTrue(w.Status.Conditions, condition)
}

// WorkloadList is a list of Workload objects.
//
// +kubebuilder:object:root=true
type WorkloadList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Workload `json:"items"`
}

// ResourceFlavor is a kind of nodes.
//
// +kubebuilder:object:root=true
type ResourceFlavor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec FlavorSpec `json:"spec,omitzero"`
}

// FlavorSpec has the labels of the nodes.
type FlavorSpec struct {
	NodeLabels map[string]string `json:"nodeLabels,omitempty"`
}

// ResourceFlavorList is a list of ResourceFlavor objects.
//
// +kubebuilder:object:root=true
type ResourceFlavorList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ResourceFlavor `json:"items"`
}
