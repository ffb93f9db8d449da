// Package v1 declares the only kind of the example: a CronJob, which creates Jobs on a schedule.
//
// +kubebuilder:object:generate=true
// +groupName=cronjob.example.com
package v1

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

//go:generate go tool controller-gen object crd:maxDescLen=0 paths=. output:crd:dir=../../config/crd

// AddToScheme registers the kind.
var AddToScheme = (&scheme.Builder{GroupVersion: schema.GroupVersion{Group: "cronjob.example.com", Version: "v1"}}).
	Register(&CronJob{}, &CronJobList{}).AddToScheme

// CronJob creates Jobs on a schedule.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.schedule`
// +kubebuilder:printcolumn:name="Last",type=date,JSONPath=`.status.lastScheduleTime`
type CronJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              CronJobSpec   `json:"spec,omitempty"`
	Status            CronJobStatus `json:"status,omitempty"`
}

// ConcurrencyPolicy defines what happens when a Job is due while an earlier one runs.
// +kubebuilder:validation:Enum=Allow;Forbid;Replace
type ConcurrencyPolicy string

// The policies.
const (
	Allow   ConcurrencyPolicy = "Allow"   // both run; the default
	Forbid  ConcurrencyPolicy = "Forbid"  // the new one waits
	Replace ConcurrencyPolicy = "Replace" // the old one is deleted
)

// CronJobSpec is the desired state of a CronJob.
type CronJobSpec struct {
	// Schedule is in cron format, see https://en.wikipedia.org/wiki/Cron.
	// +kubebuilder:validation:MinLength=1
	Schedule string `json:"schedule"`
	// StartingDeadlineSeconds is the maximum delay of a Job. The default is no maximum.
	// +kubebuilder:validation:Minimum=0
	StartingDeadlineSeconds *int64            `json:"startingDeadlineSeconds,omitempty"`
	ConcurrencyPolicy       ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`
	// Suspend stops the creation of Jobs; running Jobs continue.
	Suspend     *bool                   `json:"suspend,omitempty"`
	JobTemplate batchv1.JobTemplateSpec `json:"jobTemplate"`
	// SuccessfulJobsHistoryLimit and FailedJobsHistoryLimit are the numbers of finished Jobs to keep. The default is to keep all.
	// +kubebuilder:validation:Minimum=0
	SuccessfulJobsHistoryLimit *int32 `json:"successfulJobsHistoryLimit,omitempty"`
	// +kubebuilder:validation:Minimum=0
	FailedJobsHistoryLimit *int32 `json:"failedJobsHistoryLimit,omitempty"`
}

// CronJobStatus is the observed state of a CronJob.
type CronJobStatus struct {
	// Active are the Jobs that run.
	// +listType=atomic
	Active []corev1.ObjectReference `json:"active,omitempty"`
	// LastScheduleTime is when the last Job was due.
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// CronJobList is a list of CronJobs.
// +kubebuilder:object:root=true
type CronJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []CronJob `json:"items"`
}
