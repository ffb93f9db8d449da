package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Argument is an argument of a program.
type Argument struct {
	// Name is the name of the argument.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9._-]+$`
	Name string `json:"name"`
	// Value is the value of the argument.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9._/:\- ]*$`
	Value string `json:"value,omitempty"`
}

// Artifact refers to an artifact of the catalogue by name, or to a custom artifact of the job.
type Artifact struct {
	// Name is the name in the catalogue of the operator.
	Name string `json:"name,omitempty"`
	// Ref is the name of a custom artifact of the same job.
	Ref string `json:"ref,omitempty"`
}

// Card refers to a data set.
type Card struct {
	// Name is the name in the catalogue of the operator.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9._-]+$`
	Name string `json:"name,omitempty"`
	// Custom is a card as JSON.
	Custom string `json:"custom,omitempty"`
}

// TaskRecipe defines a task from its parts.
type TaskRecipe struct {
	// Card refers to the data set.
	Card Card `json:"card"`
	// Template is the template of the prompts.
	Template *Artifact `json:"template,omitempty"`
	// SystemPrompt is the text before each prompt.
	SystemPrompt *Artifact `json:"systemPrompt,omitempty"`
	// Task is the task to perform.
	Task *Artifact `json:"task,omitempty"`
	// Metrics are the metrics to compute.
	Metrics []Artifact `json:"metrics,omitempty"`
	// Format is the format of the prompts.
	Format *string `json:"format,omitempty"`
	// LoaderLimit is the number of records to load.
	LoaderLimit *int `json:"loaderLimit,omitempty"`
	// NumDemos is the number of examples in a prompt.
	NumDemos *int `json:"numDemos,omitempty"`
	// DemosPoolSize is the number of examples to choose from.
	DemosPoolSize *int `json:"demosPoolSize,omitempty"`
}

// CustomArtifact is an artifact that the job defines.
type CustomArtifact struct {
	// Name is the name that recipes use to refer to the artifact.
	Name string `json:"name"`
	// Value is the content: text for a system prompt, JSON for other artifacts.
	Value string `json:"value"`
}

// CustomArtifacts are artifacts that the job defines.
type CustomArtifacts struct {
	Templates     []CustomArtifact `json:"templates,omitempty"`
	SystemPrompts []CustomArtifact `json:"systemPrompts,omitempty"`
	Metrics       []CustomArtifact `json:"metrics,omitempty"`
	Tasks         []CustomArtifact `json:"tasks,omitempty"`
}

// GitSource is a repository with tasks.
type GitSource struct {
	// URL is the URL of the repository.
	// +kubebuilder:validation:Pattern=`^https://[a-zA-Z0-9._/-]+$`
	URL string `json:"url,omitempty"`
	// Branch is the branch to check out.
	Branch *string `json:"branch,omitempty"`
	// Commit is the commit to check out.
	Commit *string `json:"commit,omitempty"`
	// Path is the path of the tasks in the repository.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9._/-]*$`
	Path string `json:"path,omitempty"`
}

// TaskSource is the origin of tasks.
type TaskSource struct {
	Git *GitSource `json:"git,omitempty"`
}

// CustomTasks are tasks from a repository.
type CustomTasks struct {
	Source TaskSource `json:"source,omitempty"`
}

// TaskName is the name of a task.
// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9._-]+$`
type TaskName string

// TaskList lists the tasks to evaluate.
type TaskList struct {
	// TaskNames are the names of known tasks.
	TaskNames []TaskName `json:"taskNames,omitempty"`
	// TaskRecipes define additional tasks.
	TaskRecipes []TaskRecipe `json:"taskRecipes,omitempty"`
	// CustomArtifacts are the custom artifacts that the recipes use.
	Custom *CustomArtifacts `json:"custom,omitempty"`
	// CustomTasks is the source of the tasks in taskNames.
	CustomTasks *CustomTasks `json:"customTasks,omitempty"`
}

// ChatTemplate configures whether prompts use a chat template, and which one.
type ChatTemplate struct {
	Enabled bool   `json:"enabled"`
	Name    string `json:"name,omitempty"`
}

// EvalContainer contains additional settings of the main container.
type EvalContainer struct {
	Env             []corev1.EnvVar              `json:"env,omitempty"`
	VolumeMounts    []corev1.VolumeMount         `json:"volumeMounts,omitempty"`
	Resources       *corev1.ResourceRequirements `json:"resources,omitempty"`
	SecurityContext *corev1.SecurityContext      `json:"securityContext,omitempty"`
}

// EvalPod contains additional settings of the pod.
type EvalPod struct {
	Container       *EvalContainer             `json:"container,omitempty"`
	Volumes         []corev1.Volume            `json:"volumes,omitempty"`
	SideCars        []corev1.Container         `json:"sideCars,omitempty"`
	Affinity        *corev1.Affinity           `json:"affinity,omitempty"`
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`
}

// ManagedClaim is a PersistentVolumeClaim that the operator creates.
type ManagedClaim struct {
	// Size is the size of the volume as a quantity.
	Size string `json:"size,omitempty"`
}

// OCIRegistry is the registry for the upload of results.
type OCIRegistry struct {
	// Registry is the Secret key with the host.
	Registry corev1.SecretKeySelector `json:"registry"`
	// Repository is the repository in the registry.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9._/-]*$`
	Repository string `json:"repository"`
	// Tag is the tag of the results. The default is the name of the job.
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$`
	// +kubebuilder:validation:MaxLength=128
	Tag string `json:"tag,omitempty"`
	// Subject is the image that the results refer to.
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
	// PVCName is the name of an existing PersistentVolumeClaim.
	PVCName *string `json:"pvcName,omitempty"`
	// PVCManaged is a PersistentVolumeClaim that the operator creates. It takes precedence over pvcName.
	PVCManaged *ManagedClaim `json:"pvcManaged,omitempty"`
	// OCI is the registry for the upload of results.
	OCI *OCIRegistry `json:"oci,omitempty"`
}

// S3 is a bucket with models and data sets.
type S3 struct {
	AccessKeyID     corev1.SecretKeySelector `json:"accessKeyId"`
	SecretAccessKey corev1.SecretKeySelector `json:"secretAccessKey"`
	Bucket          corev1.SecretKeySelector `json:"bucket"`
	Region          corev1.SecretKeySelector `json:"region"`
	Endpoint        corev1.SecretKeySelector `json:"endpoint"`
	// Path is the path in the bucket.
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
	// Model is the type of the model.
	// +kubebuilder:validation:Enum=hf;openai-completions;openai-chat-completions;local-completions;local-chat-completions;watsonx_llm;textsynth
	Model string `json:"model"`
	// ModelArgs are the arguments of the model.
	ModelArgs []Argument `json:"modelArgs,omitempty"`
	// TaskList lists the tasks to evaluate.
	TaskList TaskList `json:"taskList"`
	// NumFewShot is the number of examples in a prompt.
	NumFewShot *int `json:"numFewShot,omitempty"`
	// Limit is the number or the fraction of records to evaluate.
	// +kubebuilder:validation:Pattern=`^(\d+\.?\d*|\d*\.\d+)$`
	Limit string `json:"limit,omitempty"`
	// GenArgs are the arguments for the generation of text.
	GenArgs []Argument `json:"genArgs,omitempty"`
	// LogSamples stores prompts and answers with the results.
	LogSamples *bool `json:"logSamples,omitempty"`
	// BatchSize is the batch size: a number, auto, or auto:N.
	BatchSize *string `json:"batchSize,omitempty"`
	// SystemInstruction is the text before each prompt.
	SystemInstruction string `json:"systemInstruction,omitempty"`
	// ChatTemplate configures the chat template of the prompts.
	ChatTemplate *ChatTemplate `json:"chatTemplate,omitempty"`
	// AllowOnline requests access to the Internet. The operator must permit it, too.
	// +kubebuilder:default=false
	AllowOnline *bool `json:"allowOnline,omitempty"`
	// AllowCodeExecution requests the execution of code from data sets. The operator must permit it, too.
	// +kubebuilder:default=false
	AllowCodeExecution *bool `json:"allowCodeExecution,omitempty"`
	// Suspend stops the pod. Without a value, a job that a queue manages waits for its queue.
	Suspend *bool `json:"suspend,omitempty"`
	// Pod contains additional settings of the pod.
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

// JobReason is the reason for the end of a job.
// +kubebuilder:validation:Enum=NoReason;Succeeded;Failed;Cancelled
type JobReason string

// The reasons for the end of a job.
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
	// Results are the results of the evaluation as JSON.
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
