package v1beta1

import corev1 "k8s.io/api/core/v1"

// The values of the serviceRoute fields.
const (
	RouteEnabled  = "enabled"
	RouteDisabled = "disabled"
)

// SecretKeyValue names a key of a Secret.
type SecretKeyValue struct {
	// Name of the Secret.
	Name string `json:"name"`
	// Key in its data.
	Key string `json:"key"`
}

// ConfigMapKeyValue names a key of a ConfigMap.
type ConfigMapKeyValue struct {
	// Name of the ConfigMap.
	Name string `json:"name"`
	// Key in its data.
	Key string `json:"key"`
}

// RestSpec configures the REST server.
type RestSpec struct {
	// Port that it listens on.
	// +kubebuilder:default=8080
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`
	// ServiceRoute controls whether an HTTP route to the server is created if the cluster has routes.
	// +kubebuilder:default=disabled
	// +kubebuilder:validation:Enum=disabled;enabled
	ServiceRoute string `json:"serviceRoute,omitempty"`
	// Resources of the container.
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// Image of the container.
	Image string `json:"image,omitempty"`
}

// GrpcSpec is deprecated and has no effect.
type GrpcSpec struct {
	// Port that the server listened on.
	// +kubebuilder:default=9090
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`
	// Resources of the container.
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// Image of the container.
	Image string `json:"image,omitempty"`
}

// MySQLConfig names a MySQL database.
type MySQLConfig struct {
	// Host name or address.
	Host string `json:"host"`
	// Port of the server.
	// +kubebuilder:default=3306
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`
	// Username to connect with.
	Username string `json:"username"`
	// PasswordSecret contains the password.
	PasswordSecret *SecretKeyValue `json:"passwordSecret,omitempty"`
	// Database name.
	Database string `json:"database"`
	// SkipDBCreation has no effect.
	// +kubebuilder:default=false
	SkipDBCreation bool `json:"skipDBCreation,omitempty"`
	// SSLCertificateSecret has the client certificate.
	SSLCertificateSecret *SecretKeyValue `json:"sslCertificateSecret,omitempty"`
	// SSLKeySecret has its key.
	SSLKeySecret *SecretKeyValue `json:"sslKeySecret,omitempty"`
	// SSLRootCertificateConfigMap contains the CA certificate. It takes precedence over SSLRootCertificateSecret.
	SSLRootCertificateConfigMap *ConfigMapKeyValue `json:"sslRootCertificateConfigMap,omitempty"`
	// SSLRootCertificateSecret has the certificate of the authority.
	SSLRootCertificateSecret *SecretKeyValue `json:"sslRootCertificateSecret,omitempty"`
	// SSLRootCertificatesConfigMapName contains several CA certificates. It takes precedence over SSLRootCertificatesSecretName.
	SSLRootCertificatesConfigMapName string `json:"sslRootCertificatesConfigMapName,omitempty"`
	// SSLRootCertificatesSecretName has many certificates.
	SSLRootCertificatesSecretName string `json:"sslRootCertificatesSecretName,omitempty"`
	// SSLCipher lists the ciphers to allow.
	SSLCipher string `json:"sslCipher,omitempty"`
	// VerifyServerCert controls whether the server's certificate is checked.
	VerifyServerCert *bool `json:"verifyServerCert,omitempty"`
}

// ProxyConfig configures the proxy that authorizes requests.
// +kubebuilder:validation:XValidation:rule="has(self.tlsCertificateSecret) == has(self.tlsKeySecret)",message="tlsCertificateSecret and tlsKeySecret MUST be set together"
type ProxyConfig struct {
	// Port that it listens on.
	// +kubebuilder:default=8443
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`
	// TLSCertificateSecret contains the certificate. By default the cluster creates one.
	TLSCertificateSecret *SecretKeyValue `json:"tlsCertificateSecret,omitempty"`
	// TLSKeySecret has its key.
	TLSKeySecret *SecretKeyValue `json:"tlsKeySecret,omitempty"`
	// ServiceRoute controls whether an HTTPS route to the proxy is created if the cluster has routes.
	// +kubebuilder:default=enabled
	// +kubebuilder:validation:Enum=disabled;enabled
	ServiceRoute string `json:"serviceRoute,omitempty"`
	// Domain of the route; by default that of the cluster.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^(([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9\-]{0,61}[a-zA-Z0-9])(\.([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9\-]{0,61}[a-zA-Z0-9]))*)?$`
	Domain string `json:"domain,omitempty"`
	// RoutePort is the port under which the route is reached.
	// +kubebuilder:default=443
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	RoutePort *int32 `json:"routePort,omitempty"`
	// Image of the container.
	Image string `json:"image,omitempty"`
}
