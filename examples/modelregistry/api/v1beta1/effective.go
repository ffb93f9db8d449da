package v1beta1

import (
	"github.com/reconcilekit/reconcilekit/defaulting"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Settings are the settings of the operator for registries, from its environment.
type Settings struct {
	// Namespace that all registries must be in; empty allows any. Webhooks reports whether admission enforces it.
	Namespace string
	Webhooks  bool
	// DefaultDomain of routes; empty is that of the cluster.
	DefaultDomain string
	// The images.
	RestImage, ProxyImage, PostgresImage string
}

// The generated database.
const (
	databaseName = "model_registry"
	// DatabaseUser is the user of a generated database, and DatabasePasswordKey the key of the password in its Secret.
	DatabaseUser        = "modelregistry"
	DatabasePasswordKey = "password"
)

// Effective returns the spec that the children depend on. It does not change the stored one.
func (s Settings) Effective(m *ModelRegistry, clusterDomain string) *ModelRegistrySpec {
	return defaulting.Effective(m.Spec.DeepCopy(),
		(*ModelRegistrySpec).DropEmptyDatabases,
		func(spec *ModelRegistrySpec) { s.defaultRest(&spec.Rest) },
		func(spec *ModelRegistrySpec) { s.defaultProxy(m.Name, clusterDomain, spec.KubeRBACProxy) },
		func(spec *ModelRegistrySpec) { s.defaultDatabase(m.Name, spec) },
	)
}

func (s Settings) defaultRest(rest *RestSpec) {
	if rest.Resources == nil {
		memory := resource.MustParse("256Mi")
		rest.Resources = &corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: memory},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: memory},
		}
	}
	fill(&rest.Image, s.RestImage)
	number(&rest.Port, 8080)
}

func (s Settings) defaultProxy(name, clusterDomain string, proxy *ProxyConfig) {
	if proxy == nil {
		return
	}
	if proxy.TLSCertificateSecret == nil {
		certificate := name + "-kube-rbac-proxy"
		proxy.TLSCertificateSecret = &SecretKeyValue{Name: certificate, Key: corev1.TLSCertKey}
		proxy.TLSKeySecret = &SecretKeyValue{Name: certificate, Key: corev1.TLSPrivateKeyKey}
	}
	fill(&proxy.Domain, s.DefaultDomain)
	fill(&proxy.Domain, clusterDomain)
	fill(&proxy.Image, s.ProxyImage)
	fill(&proxy.ServiceRoute, RouteEnabled)
	number(&proxy.Port, 8443)
	number(&proxy.RoutePort, 443)
}

// defaultDatabase replaces a generated database with the connection to it.
func (s Settings) defaultDatabase(name string, spec *ModelRegistrySpec) {
	if spec.MySQL != nil {
		number(&spec.MySQL.Port, 3306)
	}
	if spec.Postgres == nil {
		return
	}
	if spec.Postgres.Generated() {
		spec.Postgres = &PostgresConfig{
			Host: name + "-postgres", Username: DatabaseUser, Database: databaseName,
			PasswordSecret: &SecretKeyValue{Name: CredentialsName(name), Key: DatabasePasswordKey},
		}
	} else {
		fill(&spec.Postgres.Image, s.PostgresImage)
	}
	number(&spec.Postgres.Port, 5432)
}

// CredentialsName returns the name of the Secret of a generated database.
func CredentialsName(registry string) string { return registry + "-postgres-credentials" }

func fill(field *string, value string) {
	if *field == "" {
		*field = value
	}
}

func number(field **int32, value int32) {
	if *field == nil {
		*field = &value
	}
}
