package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// PostgresConfig names a PostgreSQL database.
type PostgresConfig struct {
	// Host name.
	Host string `json:"host,omitempty"`
	// HostAddress is used when Host is empty.
	HostAddress string `json:"hostAddress,omitempty"`
	// Port of the server.
	// +kubebuilder:default=5432
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`
	// Username to connect with.
	Username string `json:"username,omitempty"`
	// PasswordSecret contains the password.
	PasswordSecret *v1beta1.SecretKeyValue `json:"passwordSecret,omitempty"`
	// Database name.
	Database string `json:"database"`
	// SkipDBCreation has no effect.
	// +kubebuilder:default=false
	SkipDBCreation bool `json:"skipDBCreation,omitempty"`
	// SSLMode of the connection.
	// +kubebuilder:default=disable
	// +kubebuilder:validation:Enum=disable;allow;prefer;require;verify-ca;verify-full
	SSLMode string `json:"sslMode,omitempty"`
	// SSLCertificateSecret has the client certificate.
	SSLCertificateSecret *v1beta1.SecretKeyValue `json:"sslCertificateSecret,omitempty"`
	// SSLKeySecret has its key.
	SSLKeySecret *v1beta1.SecretKeyValue `json:"sslKeySecret,omitempty"`
	// SSLPasswordSecret contains the password of the key.
	SSLPasswordSecret *v1beta1.SecretKeyValue `json:"sslPasswordSecret,omitempty"`
	// SSLRootCertificateConfigMap contains the CA certificate. It takes precedence over SSLRootCertificateSecret.
	SSLRootCertificateConfigMap *v1beta1.ConfigMapKeyValue `json:"sslRootCertificateConfigMap,omitempty"`
	// SSLRootCertificateSecret has the certificate of the authority.
	SSLRootCertificateSecret *v1beta1.SecretKeyValue `json:"sslRootCertificateSecret,omitempty"`
}

// ModelRegistrySpec is the desired state of a registry.
// +kubebuilder:validation:XValidation:rule="!(has(self.istio) && has(self.oauthProxy))",message="Cannot use both istio and oauthProxy"
type ModelRegistrySpec struct {
	// Rest configures the REST server.
	Rest v1beta1.RestSpec `json:"rest"`
	// Grpc has no effect.
	Grpc v1beta1.GrpcSpec `json:"grpc"`
	// Postgres is the database.
	Postgres *PostgresConfig `json:"postgres,omitempty"`
	// MySQL is the database.
	MySQL *v1beta1.MySQLConfig `json:"mysql,omitempty"`
	// EnableDatabaseUpgrade has no effect.
	EnableDatabaseUpgrade *bool `json:"enable_database_upgrade,omitempty"`
	// DowngradeDbSchemaVersion has no effect.
	DowngradeDbSchemaVersion *int64 `json:"downgrade_db_schema_version,omitempty"`
	// Istio is no longer supported: it becomes a proxy.
	Istio *IstioConfig `json:"istio,omitempty"`
	// OAuthProxy puts a proxy before the server.
	OAuthProxy *v1beta1.ProxyConfig `json:"oauthProxy,omitempty"`
}

// IstioConfig asked for a service mesh.
type IstioConfig struct {
	// AuthProvider is the name of the provider.
	AuthProvider string `json:"authProvider,omitempty"`
	// AuthConfigLabels select the configuration.
	AuthConfigLabels map[string]string `json:"authConfigLabels,omitempty"`
	// TLSMode of the mesh.
	// +kubebuilder:default=ISTIO_MUTUAL
	TLSMode string `json:"tlsMode,omitempty"`
	// Audiences of tokens.
	Audiences []string `json:"audiences,omitempty"`
	// Gateway configures the access to the registry.
	Gateway *GatewayConfig `json:"gateway,omitempty"`
}

// GatewayConfig configures the access to a registry in a mesh.
type GatewayConfig struct {
	// Domain of the gateway.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^(([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9\-]{0,61}[a-zA-Z0-9])(\.([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9\-]{0,61}[a-zA-Z0-9]))*)?$`
	Domain string `json:"domain,omitempty"`
	// IstioIngress is the name of the ingress.
	IstioIngress *string `json:"istioIngress,omitempty"`
	// ControlPlane is the name of the control plane.
	ControlPlane *string `json:"controlPlane,omitempty"`
	// Rest server.
	Rest ServerConfig `json:"rest"`
	// Grpc server.
	Grpc ServerConfig `json:"grpc"`
}

// ServerConfig is a port of a gateway.
type ServerConfig struct {
	// Port of the gateway.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`
	// TLS of the gateway.
	TLS *TLSServerSettings `json:"tls,omitempty"`
	// GatewayRoute controls whether a route to the gateway is created.
	// +kubebuilder:validation:Enum=disabled;enabled
	GatewayRoute string `json:"gatewayRoute,omitempty"`
}

// TLSServerSettings is the TLS of a gateway.
type TLSServerSettings struct {
	// Mode of the connection.
	// +kubebuilder:default=SIMPLE
	// +kubebuilder:validation:Enum=SIMPLE;MUTUAL;ISTIO_MUTUAL;OPTIONAL_MUTUAL
	Mode string `json:"mode,omitempty"`
	// CredentialName is the name of the Secret.
	CredentialName *string `json:"credentialName,omitempty"`
}

// ModelRegistry is a server of model metadata.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=mr
// +kubebuilder:deprecatedversion:warning="Version v1alpha1 of the ModelRegistry API is deprecated and will be removed in a future release. Please use v1beta1 instead."
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Istio",type=string,JSONPath=`.status.conditions[?(@.type=="IstioAvailable")].status`,priority=2
// +kubebuilder:printcolumn:name="Gateway",type=string,JSONPath=`.status.conditions[?(@.type=="GatewayAvailable")].status`,priority=2
// +kubebuilder:printcolumn:name="OAuthProxy",type=string,JSONPath=`.status.conditions[?(@.type=="OAuthProxyAvailable")].status`,priority=2
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Hosts",type=string,JSONPath=`.status.hostsStr`,priority=2
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].message`,priority=2
type ModelRegistry struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ModelRegistrySpec           `json:"spec,omitempty"`
	Status v1beta1.ModelRegistryStatus `json:"status,omitempty"`
}

// ModelRegistryList is a list of registries.
//
// +kubebuilder:object:root=true
type ModelRegistryList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ModelRegistry `json:"items"`
}
