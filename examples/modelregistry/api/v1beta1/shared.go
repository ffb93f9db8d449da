package v1beta1

import corev1 "k8s.io/api/core/v1"

// The values of the serviceRoute fields.
const (
	RouteEnabled  = "enabled"
	RouteDisabled = "disabled"
)

// SecretKeyValue refers to a key of a Secret.
type SecretKeyValue struct {
	// Name is the name of the Secret.
	Name string `json:"name"`
	// Key is the key in the data of the object.
	Key string `json:"key"`
}

// ConfigMapKeyValue refers to a key of a ConfigMap.
type ConfigMapKeyValue struct {
	// Name is the name of the ConfigMap.
	Name string `json:"name"`
	// Key is the key in the data of the object.
	Key string `json:"key"`
}

// RestSpec configures the REST server.
type RestSpec struct {
	// Port is the port that the server listens on.
	// +kubebuilder:default=8080
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`
	// ServiceRoute controls whether an HTTP route to the server is created if the cluster has routes.
	// +kubebuilder:default=disabled
	// +kubebuilder:validation:Enum=disabled;enabled
	ServiceRoute string `json:"serviceRoute,omitempty"`
	// Resources are the requests and limits of the container.
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// Image is the image of the container.
	Image string `json:"image,omitempty"`
}

// GrpcSpec is deprecated and has no effect.
type GrpcSpec struct {
	// Port was the port of the gRPC server.
	// +kubebuilder:default=9090
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`
	// Resources are the requests and limits of the container.
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// Image is the image of the container.
	Image string `json:"image,omitempty"`
}

// MySQLConfig configures the connection to a MySQL database.
type MySQLConfig struct {
	// Host is the host name or address of the database server.
	Host string `json:"host"`
	// Port is the port of the database server.
	// +kubebuilder:default=3306
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`
	// Username is the database user.
	Username string `json:"username"`
	// PasswordSecret names the Secret key with the password.
	PasswordSecret *SecretKeyValue `json:"passwordSecret,omitempty"`
	// Database is the name of the database.
	Database string `json:"database"`
	// SkipDBCreation has no effect. It is kept for compatibility.
	// +kubebuilder:default=false
	SkipDBCreation bool `json:"skipDBCreation,omitempty"`
	// SSLCertificateSecret names the Secret key with the client certificate.
	SSLCertificateSecret *SecretKeyValue `json:"sslCertificateSecret,omitempty"`
	// SSLKeySecret names the Secret key with the private key of the client certificate.
	SSLKeySecret *SecretKeyValue `json:"sslKeySecret,omitempty"`
	// SSLRootCertificateConfigMap contains the CA certificate. It takes precedence over SSLRootCertificateSecret.
	SSLRootCertificateConfigMap *ConfigMapKeyValue `json:"sslRootCertificateConfigMap,omitempty"`
	// SSLRootCertificateSecret has the certificate of the authority.
	SSLRootCertificateSecret *SecretKeyValue `json:"sslRootCertificateSecret,omitempty"`
	// SSLRootCertificatesConfigMapName contains several CA certificates. It takes precedence over SSLRootCertificatesSecretName.
	SSLRootCertificatesConfigMapName string `json:"sslRootCertificatesConfigMapName,omitempty"`
	// SSLRootCertificatesSecretName is the name of the Secret with root certificates.
	SSLRootCertificatesSecretName string `json:"sslRootCertificatesSecretName,omitempty"`
	// SSLCipher lists the ciphers to allow.
	SSLCipher string `json:"sslCipher,omitempty"`
	// VerifyServerCert controls whether the server's certificate is checked.
	VerifyServerCert *bool `json:"verifyServerCert,omitempty"`
}

// ProxyConfig configures the proxy that authorizes requests.
// +kubebuilder:validation:XValidation:rule="has(self.tlsCertificateSecret) == has(self.tlsKeySecret)",message="tlsCertificateSecret and tlsKeySecret MUST be set together"
type ProxyConfig struct {
	// Port is the port that the server listens on.
	// +kubebuilder:default=8443
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`
	// TLSCertificateSecret contains the certificate. By default the cluster creates one.
	TLSCertificateSecret *SecretKeyValue `json:"tlsCertificateSecret,omitempty"`
	// TLSKeySecret names the Secret key with the private key of the certificate.
	TLSKeySecret *SecretKeyValue `json:"tlsKeySecret,omitempty"`
	// ServiceRoute controls whether an HTTPS route to the proxy is created if the cluster has routes.
	// +kubebuilder:default=enabled
	// +kubebuilder:validation:Enum=disabled;enabled
	ServiceRoute string `json:"serviceRoute,omitempty"`
	// Domain is the domain of the route. The default is the domain of the cluster.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^(([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9\-]{0,61}[a-zA-Z0-9])(\.([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9\-]{0,61}[a-zA-Z0-9]))*)?$`
	Domain string `json:"domain,omitempty"`
	// RoutePort is the external port of the route.
	// +kubebuilder:default=443
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	RoutePort *int32 `json:"routePort,omitempty"`
	// Image is the image of the container.
	Image string `json:"image,omitempty"`
}
