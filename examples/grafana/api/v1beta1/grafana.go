package v1beta1

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Grafana is a Grafana server: one that the operator runs, or an external one that exists already.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.spec.version`
// +kubebuilder:printcolumn:name="Stage",type=string,JSONPath=`.status.stage`
// +kubebuilder:printcolumn:name="Stage status",type=string,JSONPath=`.status.stageStatus`
// +kubebuilder:storageversion
type Grafana struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              GrafanaSpec   `json:"spec,omitempty"`
	Status            GrafanaStatus `json:"status,omitempty"`
}

// GrafanaSpec defines the desired state of Grafana.
type GrafanaSpec struct {
	// Version is a tag of docker.io/grafana/grafana, or an image. The default is a version that the operator was tested with.
	Version string `json:"version,omitempty"`
	// Config contains the sections of grafana.ini. The keys of the section global precede all sections.
	Config map[string]map[string]string `json:"config,omitempty"`
	// Deployment, Service, PersistentVolumeClaim and Ingress extend what the operator plans. Without the last two there is no claim and
	// no Ingress.
	Deployment            *Override `json:"deployment,omitempty"`
	Service               *Override `json:"service,omitempty"`
	PersistentVolumeClaim *Override `json:"persistentVolumeClaim,omitempty"`
	Ingress               *Override `json:"ingress,omitempty"`
	// External is a server that the operator does not run.
	External *External `json:"external,omitempty"`
	// DisableDefaultAdminSecret omits the credentials from the environment of the Pods.
	DisableDefaultAdminSecret bool `json:"disableDefaultAdminSecret,omitempty"`
	// Suspend stops all changes of the children.
	Suspend bool `json:"suspend,omitempty"`
}

// Override contains fields of a child, in the form of the child. A strategic merge adds them to those of the operator.
type Override struct {
	Metadata OverrideMeta `json:"metadata,omitempty"`
	// +kubebuilder:pruning:PreserveUnknownFields
	Spec *runtime.RawExtension `json:"spec,omitempty"`
}

// OverrideMeta is the metadata that users may add to a child.
type OverrideMeta struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// External is the address of a server and the Secrets with its credentials: an API key, or a user and a password.
type External struct {
	// +kubebuilder:validation:Pattern=`^https?://[^/]+`
	URL           string                    `json:"url"`
	APIKey        *corev1.SecretKeySelector `json:"apiKey,omitempty"`
	AdminUser     *corev1.SecretKeySelector `json:"adminUser,omitempty"`
	AdminPassword *corev1.SecretKeySelector `json:"adminPassword,omitempty"`
}

// The values of stage and stageStatus.
const (
	StageDeployment = "deployment"
	StageComplete   = "complete"
	StageInProgress = "in progress"
	StageFailed     = "failed"
	StageSuccess    = "success"
)

// GrafanaStatus defines the observed state of Grafana.
type GrafanaStatus struct {
	Stage       string `json:"stage,omitempty"`
	StageStatus string `json:"stageStatus,omitempty"`
	LastMessage string `json:"lastMessage,omitempty"`
	// AdminURL is the address of the HTTP API.
	AdminURL string `json:"adminUrl,omitempty"`
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// The keys of the Secret with the administrator's credentials.
const (
	AdminUserKey     = "GF_SECURITY_ADMIN_USER"
	AdminPasswordKey = "GF_SECURITY_ADMIN_PASSWORD" //nolint:gosec // the name of a key
)

// AdminSecret returns the name of the Secret with the credentials of a server that the operator runs.
func (g *Grafana) AdminSecret() string { return g.Name + "-admin-credentials" }

// ServiceName returns the name of the Service of a server that the operator runs.
func (g *Grafana) ServiceName() string { return g.Name + "-service" }

// Credentials returns where the API key, or the user and the password, of the server are. Those that do not exist are nil.
func (g *Grafana) Credentials() (key, user, password *corev1.SecretKeySelector) {
	if e := g.Spec.External; e != nil {
		return e.APIKey, e.AdminUser, e.AdminPassword
	}
	in := corev1.LocalObjectReference{Name: g.AdminSecret()}
	return nil, &corev1.SecretKeySelector{LocalObjectReference: in, Key: AdminUserKey},
		&corev1.SecretKeySelector{LocalObjectReference: in, Key: AdminPasswordKey}
}

// Port returns the port of the server as a number in text.
func (g *Grafana) Port() string { return cmp.Or(g.Spec.Config["server"]["http_port"], "3000") }

// AdminURL returns the address of the HTTP API.
func (g *Grafana) AdminURL() string {
	if g.Spec.External != nil {
		return g.Spec.External.URL
	}
	return fmt.Sprintf("%s://%s.%s:%s", cmp.Or(g.Spec.Config["server"]["protocol"], "http"), g.ServiceName(), g.Namespace, g.Port())
}

// Complete reports whether the server can be used.
func (g *Grafana) Complete() bool {
	return g.DeletionTimestamp.IsZero() && g.Status.Stage == StageComplete && g.Status.StageStatus == StageSuccess
}

// GrafanaList contains a list of Grafana.
// +kubebuilder:object:root=true
type GrafanaList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Grafana `json:"items"`
}

// Hub marks the version that is stored. The other versions convert to it.
func (*Grafana) Hub() {}
