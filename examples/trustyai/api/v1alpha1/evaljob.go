package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Argument is one of a program.
type Argument struct {
	// Name of the argument.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9._-]+$`
	Name string `json:"name"`
	// Value of the argument.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9._/:\- ]*$`
	Value string `json:"value,omitempty"`
}

// Artifact is one of a catalogue by its name, or one of the job's own by reference.
type Artifact struct {
	// Name in the catalogue.
	Name string `json:"name,omitempty"`
	// Ref is the name of a custom artifact of the same job.
	Ref string `json:"ref,omitempty"`
}

// Card is a data set.
type Card struct {
	// Name in the catalogue.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9._-]+$`
	Name string `json:"name,omitempty"`
	// Custom is a card as JSON.
	Custom string `json:"custom,omitempty"`
}

// TaskRecipe defines a task by its parts.
type TaskRecipe struct {
	// Card is the data set.
	Card Card `json:"card"`
	// Template of the prompts.
	Template *Artifact `json:"template,omitempty"`
	// SystemPrompt before each prompt.
	SystemPrompt *Artifact `json:"systemPrompt,omitempty"`
	// Task is the task to perform.
	Task *Artifact `json:"task,omitempty"`
	// Metrics that are computed.
	Metrics []Artifact `json:"metrics,omitempty"`
	// Format of the prompts.
	Format *string `json:"format,omitempty"`
	// LoaderLimit is the number of records to load.
	LoaderLimit *int `json:"loaderLimit,omitempty"`
	// NumDemos is the number of examples in a prompt.
	NumDemos *int `json:"numDemos,omitempty"`
	// DemosPoolSize is the number of examples to choose from.
	DemosPoolSize *int `json:"demosPoolSize,omitempty"`
}

// CustomArtifact is an artifact of the job's own.
type CustomArtifact struct {
	// Name by which recipes refer to it.
	Name string `json:"name"`
	// Value is the artifact: text for a system prompt, else JSON.
	Value string `json:"value"`
}

// CustomArtifacts are artifacts of the job's own.
type CustomArtifacts struct {
	Templates     []CustomArtifact `json:"templates,omitempty"`
	SystemPrompts []CustomArtifact `json:"systemPrompts,omitempty"`
	Metrics       []CustomArtifact `json:"metrics,omitempty"`
	Tasks         []CustomArtifact `json:"tasks,omitempty"`
}

// GitSource is a repository with tasks.
type GitSource struct {
	// URL of the repository.
	// +kubebuilder:validation:Pattern=`^https://[a-zA-Z0-9._/-]+$`
	URL string `json:"url,omitempty"`
	// Branch to use.
	Branch *string `json:"branch,omitempty"`
	// Commit to use.
	Commit *string `json:"commit,omitempty"`
	// Path of the tasks in the repository.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9._/-]*$`
	Path string `json:"path,omitempty"`
}

// TaskSource is the origin of tasks.
type TaskSource struct {
	Git *GitSource `json:"git,omitempty"`
}

// CustomTasks are tasks from elsewhere.
type CustomTasks struct {
	Source TaskSource `json:"source,omitempty"`
}

// TaskName is the name of a task.
// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9._-]+$`
type TaskName string

// TaskList lists the tasks to evaluate.
type TaskList struct {
	// TaskNames of known tasks.
	TaskNames []TaskName `json:"taskNames,omitempty"`
	// TaskRecipes make further tasks.
	TaskRecipes []TaskRecipe `json:"taskRecipes,omitempty"`
	// Custom artifacts for the recipes.
	Custom *CustomArtifacts `json:"custom,omitempty"`
	// CustomTasks is the origin of TaskNames.
	CustomTasks *CustomTasks `json:"customTasks,omitempty"`
}

// ChatTemplate is whether prompts get the template of a chat, and which.
type ChatTemplate struct {
	Enabled bool   `json:"enabled"`
	Name    string `json:"name,omitempty"`
}

// EvalContainer contains additions to the main container.
type EvalContainer struct {
	Env             []corev1.EnvVar              `json:"env,omitempty"`
	VolumeMounts    []corev1.VolumeMount         `json:"volumeMounts,omitempty"`
	Resources       *corev1.ResourceRequirements `json:"resources,omitempty"`
	SecurityContext *corev1.SecurityContext      `json:"securityContext,omitempty"`
}

// EvalPod contains additions to the pod.
type EvalPod struct {
	Container       *EvalContainer             `json:"container,omitempty"`
	Volumes         []corev1.Volume            `json:"volumes,omitempty"`
	SideCars        []corev1.Container         `json:"sideCars,omitempty"`
	Affinity        *corev1.Affinity           `json:"affinity,omitempty"`
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`
}

// ManagedClaim is a claim that the operator creates.
type ManagedClaim struct {
	// Size of the volume, a quantity.
	Size string `json:"size,omitempty"`
}

// OCIRegistry is the registry for the upload of results.
type OCIRegistry struct {
	// Registry is the Secret key with the host.
	Registry corev1.SecretKeySelector `json:"registry"`
	// Repository in the registry.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9._/-]*$`
	Repository string `json:"repository"`
	// Tag of the results. Default the name of the job.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`
	// +kubebuilder:validation:MaxLength=128
	Tag string `json:"tag,omitempty"`
	// Subject that the results refer to.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9._:/@-]*$`
	// +kubebuilder:validation:MaxLength=255
	Subject          string                    `json:"subject,omitempty"`
	Username         *corev1.SecretKeySelector `json:"username,omitempty"`
	Password         *corev1.SecretKeySelector `json:"password,omitempty"`
	DockerConfigJSON *corev1.SecretKeySelector `json:"dockerConfigJson,omitempty"`
	VerifySSL        *bool                     `json:"verifySSL,omitempty"`
}

// Outputs configures the destination of results.
type Outputs struct {
	// PVCName is a claim that exists.
	PVCName *string `json:"pvcName,omitempty"`
	// PVCManaged is a claim that the operator creates. It takes precedence over PVCName.
	PVCManaged *ManagedClaim `json:"pvcManaged,omitempty"`
	// OCI is a registry.
	OCI *OCIRegistry `json:"oci,omitempty"`
}

// S3 is a bucket with models and data sets.
type S3 struct {
	AccessKeyID     corev1.SecretKeySelector `json:"accessKeyId"`
	SecretAccessKey corev1.SecretKeySelector `json:"secretAccessKey"`
	Bucket          corev1.SecretKeySelector `json:"bucket"`
	Region          corev1.SecretKeySelector `json:"region"`
	Endpoint        corev1.SecretKeySelector `json:"endpoint"`
	// Path in the bucket.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9._/-]*$`
	Path      string                    `json:"path"`
	VerifySSL *bool                     `json:"verifySSL,omitempty"`
	CABundle  *corev1.SecretKeySelector `json:"caBundle,omitempty"`
}

// OfflineStorage is the location of models and data sets.
type OfflineStorage struct {
	PVCName *string `json:"pvcName,omitempty"`
	S3      *S3     `json:"s3,omitempty"`
}

// Offline configures a job without access to the Internet.
type Offline struct {
	Storage OfflineStorage `json:"storage"`
}

// LMEvalJobSpec is the desired state of a job.
type LMEvalJobSpec struct {
	// Model is the kind of the model.
	// +kubebuilder:validation:Enum=hf;openai-completions;openai-chat-completions;local-completions;local-chat-completions;watsonx_llm;textsynth
	Model string `json:"model"`
	// ModelArgs of the model.
	ModelArgs []Argument `json:"modelArgs,omitempty"`
	// TaskList lists the tasks to evaluate.
	TaskList TaskList `json:"taskList"`
	// NumFewShot is the number of examples in a prompt.
	NumFewShot *int `json:"numFewShot,omitempty"`
	// Limit is the number of records to evaluate, or their share.
	// +kubebuilder:validation:Pattern=`^(\d+\.?\d*|\d*\.\d+)$`
	Limit string `json:"limit,omitempty"`
	// GenArgs of the generation.
	GenArgs []Argument `json:"genArgs,omitempty"`
	// LogSamples stores prompts and answers.
	LogSamples *bool `json:"logSamples,omitempty"`
	// BatchSize is a number, auto, or auto:N.
	BatchSize *string `json:"batchSize,omitempty"`
	// SystemInstruction before each prompt.
	SystemInstruction string `json:"systemInstruction,omitempty"`
	// ChatTemplate of the prompts.
	ChatTemplate *ChatTemplate `json:"chatTemplate,omitempty"`
	// AllowOnline asks for the Internet; the operator must permit it as well.
	// +kubebuilder:default=false
	AllowOnline *bool `json:"allowOnline,omitempty"`
	// AllowCodeExecution asks to run code of others; the operator must permit it as well.
	// +kubebuilder:default=false
	AllowCodeExecution *bool `json:"allowCodeExecution,omitempty"`
	// Suspend stops the pod. With the job manager a job without a value waits for its queue.
	Suspend *bool `json:"suspend,omitempty"`
	// Pod contains additions to the pod.
	Pod *EvalPod `json:"pod,omitempty"`
	// Outputs configures the destination of results.
	Outputs *Outputs `json:"outputs,omitempty"`
	// Offline configures a job without access to the Internet.
	Offline *Offline `json:"offline,omitempty"`
}

// JobState is the state of a job.
// +kubebuilder:validation:Enum=New;Scheduled;Running;Complete;Cancelled;Suspended
type JobState string

// The states of a job.
const (
	JobNew       JobState = "New"
	JobScheduled JobState = "Scheduled"
	JobRunning   JobState = "Running"
	JobComplete  JobState = "Complete"
	JobCancelled JobState = "Cancelled"
	JobSuspended JobState = "Suspended"
)

// JobReason is the reason of a job's end.
// +kubebuilder:validation:Enum=NoReason;Succeeded;Failed;Cancelled
type JobReason string

// The reasons of the end of a job.
const (
	NoReason           JobReason = "NoReason"
	JobSucceeded       JobReason = "Succeeded"
	JobFailed          JobReason = "Failed"
	JobCancelledReason JobReason = "Cancelled"
)

// ProgressBar is the progress of a part of the job.
type ProgressBar struct {
	Message               string `json:"message"`
	Percent               string `json:"percent"`
	ElapsedTime           string `json:"elapsedTime"`
	RemainingTimeEstimate string `json:"remainingTimeEstimate"`
	Count                 string `json:"count"`
}

// LMEvalJobStatus is the observed state of a job. Other writers are possible: setting the state Cancelled ends the job. Message and
// Results are sent also when they are empty, because an apply keeps omitted fields of other field managers.
type LMEvalJobStatus struct {
	PodName string    `json:"podName,omitempty"`
	State   JobState  `json:"state,omitempty"`
	Reason  JobReason `json:"reason,omitempty"`
	// +optional
	Message          string        `json:"message"`
	ProgressBars     []ProgressBar `json:"progressBars,omitempty"`
	LastScheduleTime *metav1.Time  `json:"lastScheduleTime,omitempty"`
	CompleteTime     *metav1.Time  `json:"completeTime,omitempty"`
	// Results are JSON.
	// +optional
	Results string `json:"results"`
}

// LMEvalJob evaluates a language model once.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=lmevaljobs
// +kubebuilder:printcolumn:name=State,type=string,JSONPath=`.status.state`
type LMEvalJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   LMEvalJobSpec   `json:"spec,omitempty"`
	Status LMEvalJobStatus `json:"status,omitempty"`
}

// LMEvalJobList is a list of jobs.
//
// +kubebuilder:object:root=true
type LMEvalJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []LMEvalJob `json:"items"`
}
