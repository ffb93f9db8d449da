package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PostgresConfig names a PostgreSQL database, or asks for one.
// +kubebuilder:validation:XValidation:rule="has(self.generateDeployment) && self.generateDeployment ? true : (size(self.host) > 0 || size(self.hostAddress) > 0)",message="GenerateDeployment must be set to true if host/hostAddress are not provided"
// +kubebuilder:validation:XValidation:rule="has(self.database) && size(self.database) > 0 ? has(self.username) && size(self.username) > 0 : true",message="Username must be set if database is specified"
// +kubebuilder:validation:XValidation:rule="!(has(self.generateDeployment) && self.generateDeployment) || ((!has(self.host) || size(self.host) == 0) && (!has(self.hostAddress) || size(self.hostAddress) == 0))",message="host and hostAddress must not be set when generateDeployment is true"
type PostgresConfig struct {
	// GenerateDeployment asks the operator to run the database.
	GenerateDeployment *bool `json:"generateDeployment,omitempty"`
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
	PasswordSecret *SecretKeyValue `json:"passwordSecret,omitempty"`
	// Database is the name of the database.
	Database string `json:"database,omitempty"`
	// SkipDBCreation has no effect. It is kept for compatibility.
	// +kubebuilder:default=false
	SkipDBCreation bool `json:"skipDBCreation,omitempty"`
	// SSLMode is the SSL mode of the connection.
	// +kubebuilder:default=disable
	// +kubebuilder:validation:Enum=disable;allow;prefer;require;verify-ca;verify-full
	SSLMode string `json:"sslMode,omitempty"`
	// SSLCertificateSecret names the Secret key with the client certificate.
	SSLCertificateSecret *SecretKeyValue `json:"sslCertificateSecret,omitempty"`
	// SSLKeySecret names the Secret key with the private key of the client certificate.
	SSLKeySecret *SecretKeyValue `json:"sslKeySecret,omitempty"`
	// SSLPasswordSecret names the Secret key with the password of the private key.
	SSLPasswordSecret *SecretKeyValue `json:"sslPasswordSecret,omitempty"`
	// SSLRootCertificateConfigMap contains the CA certificate. It takes precedence over SSLRootCertificateSecret.
	SSLRootCertificateConfigMap *ConfigMapKeyValue `json:"sslRootCertificateConfigMap,omitempty"`
	// SSLRootCertificateSecret has the certificate of the authority.
	SSLRootCertificateSecret *SecretKeyValue `json:"sslRootCertificateSecret,omitempty"`
	// Image is the image of the generated database.
	Image string `json:"image,omitempty"`
}

// Generated reports whether the operator runs the database.
func (p *PostgresConfig) Generated() bool {
	return p != nil && p.GenerateDeployment != nil && *p.GenerateDeployment
}

// ModelRegistrySpec is the desired state of a registry. It requires postgres or mysql; postgres takes precedence.
// +kubebuilder:validation:XValidation:rule="!(has(self.oauthProxy) && has(self.kubeRBACProxy))",message="Cannot use both oauthProxy and kubeRBACProxy"
type ModelRegistrySpec struct {
	// Rest configures the REST server.
	Rest RestSpec `json:"rest"`
	// Grpc is deprecated and has no effect.
	Grpc *GrpcSpec `json:"grpc,omitempty"`
	// Postgres configures a PostgreSQL database.
	Postgres *PostgresConfig `json:"postgres,omitempty"`
	// MySQL configures a MySQL database.
	MySQL *MySQLConfig `json:"mysql,omitempty"`
	// EnableDatabaseUpgrade has no effect. It is kept for compatibility.
	EnableDatabaseUpgrade *bool `json:"enable_database_upgrade,omitempty"`
	// DowngradeDbSchemaVersion has no effect. It is kept for compatibility.
	DowngradeDbSchemaVersion *int64 `json:"downgrade_db_schema_version,omitempty"`
	// OAuthProxy is deprecated. It is converted to kubeRBACProxy.
	OAuthProxy *ProxyConfig `json:"oauthProxy,omitempty"`
	// KubeRBACProxy puts a proxy that authorizes requests before the server.
	KubeRBACProxy *ProxyConfig `json:"kubeRBACProxy,omitempty"`
}

// ModelRegistryStatus is the observed state of a registry.
type ModelRegistryStatus struct {
	// Hosts are the host names of the registry.
	Hosts []string `json:"hosts,omitempty"`
	// HostsStr is Hosts joined with commas.
	HostsStr string `json:"hostsStr,omitempty"`
	// SpecDefaults is the JSON merge patch from the spec to the one in effect.
	SpecDefaults string `json:"specDefaults,omitempty"`
	// Conditions are the conditions of the registry.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ModelRegistry is a server of model metadata.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:resource:shortName=mr
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="KubeRBACProxy",type=string,JSONPath=`.status.conditions[?(@.type=="KubeRBACProxyAvailable")].status`,priority=2
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Hosts",type=string,JSONPath=`.status.hostsStr`,priority=2
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].message`,priority=2
type ModelRegistry struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ModelRegistrySpec   `json:"spec,omitempty"`
	Status ModelRegistryStatus `json:"status,omitempty"`
}

// Hub marks the version that the other versions convert to.
func (*ModelRegistry) Hub() {}

// ModelRegistryList is a list of registries.
//
// +kubebuilder:object:root=true
type ModelRegistryList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ModelRegistry `json:"items"`
}
