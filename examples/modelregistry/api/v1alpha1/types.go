package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// PostgresConfig configures the connection to a PostgreSQL database.
type PostgresConfig struct {
	// Host is the host name of the database server.
	Host string `json:"host,omitempty"`
	// HostAddress is the address of the database server. It is used if Host is empty.
	HostAddress string `json:"hostAddress,omitempty"`
	// Port is the port of the database server.
	// +kubebuilder:default=5432
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`
	// Username is the database user.
	Username string `json:"username,omitempty"`
	// PasswordSecret names the Secret key with the password.
	PasswordSecret *v1beta1.SecretKeyValue `json:"passwordSecret,omitempty"`
	// Database is the name of the database.
	Database string `json:"database"`
	// SkipDBCreation has no effect. It is kept for compatibility.
	// +kubebuilder:default=false
	SkipDBCreation bool `json:"skipDBCreation,omitempty"`
	// SSLMode is the SSL mode of the connection.
	// +kubebuilder:default=disable
	// +kubebuilder:validation:Enum=disable;allow;prefer;require;verify-ca;verify-full
	SSLMode string `json:"sslMode,omitempty"`
	// SSLCertificateSecret names the Secret key with the client certificate.
	SSLCertificateSecret *v1beta1.SecretKeyValue `json:"sslCertificateSecret,omitempty"`
	// SSLKeySecret names the Secret key with the private key of the client certificate.
	SSLKeySecret *v1beta1.SecretKeyValue `json:"sslKeySecret,omitempty"`
	// SSLPasswordSecret names the Secret key with the password of the private key.
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
	// Grpc has no effect. It is kept for compatibility.
	Grpc v1beta1.GrpcSpec `json:"grpc"`
	// Postgres configures a PostgreSQL database.
	Postgres *PostgresConfig `json:"postgres,omitempty"`
	// MySQL configures a MySQL database.
	MySQL *v1beta1.MySQLConfig `json:"mysql,omitempty"`
	// EnableDatabaseUpgrade has no effect. It is kept for compatibility.
	EnableDatabaseUpgrade *bool `json:"enable_database_upgrade,omitempty"`
	// DowngradeDbSchemaVersion has no effect. It is kept for compatibility.
	DowngradeDbSchemaVersion *int64 `json:"downgrade_db_schema_version,omitempty"`
	// Istio is no longer supported. It is converted to a proxy.
	Istio *IstioConfig `json:"istio,omitempty"`
	// OAuthProxy configures an OAuth proxy in front of the server.
	OAuthProxy *v1beta1.ProxyConfig `json:"oauthProxy,omitempty"`
}

// IstioConfig configured a service mesh. It is no longer supported.
type IstioConfig struct {
	// AuthProvider is the name of the provider.
	AuthProvider string `json:"authProvider,omitempty"`
	// AuthConfigLabels are the labels of the authorization configuration.
	AuthConfigLabels map[string]string `json:"authConfigLabels,omitempty"`
	// TLSMode is the TLS mode of the mesh.
	// +kubebuilder:default=ISTIO_MUTUAL
	TLSMode string `json:"tlsMode,omitempty"`
	// Audiences are the accepted audiences of tokens.
	Audiences []string `json:"audiences,omitempty"`
	// Gateway configures the gateway of the registry.
	Gateway *GatewayConfig `json:"gateway,omitempty"`
}

// GatewayConfig configures the access to a registry in a mesh.
type GatewayConfig struct {
	// Domain is the domain of the gateway.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^(([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9\-]{0,61}[a-zA-Z0-9])(\.([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9\-]{0,61}[a-zA-Z0-9]))*)?$`
	Domain string `json:"domain,omitempty"`
	// IstioIngress is the name of the ingress.
	IstioIngress *string `json:"istioIngress,omitempty"`
	// ControlPlane is the name of the control plane.
	ControlPlane *string `json:"controlPlane,omitempty"`
	// Rest configures the port of the REST server.
	Rest ServerConfig `json:"rest"`
	// Grpc configures the port of the gRPC server.
	Grpc ServerConfig `json:"grpc"`
}

// ServerConfig configures a port of a gateway.
type ServerConfig struct {
	// Port is the port of the gateway.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`
	// TLS configures TLS of the gateway.
	TLS *TLSServerSettings `json:"tls,omitempty"`
	// GatewayRoute controls whether a route to the gateway is created.
	// +kubebuilder:validation:Enum=disabled;enabled
	GatewayRoute string `json:"gatewayRoute,omitempty"`
}

// TLSServerSettings configures TLS of a gateway.
type TLSServerSettings struct {
	// Mode is the TLS mode of connections.
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
