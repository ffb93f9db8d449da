package registry

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// facts are what the templates are rendered with.
type facts struct {
	Name, Namespace string
	Owner           *metav1.OwnerReference
	// Spec is the one in effect.
	Spec  *v1beta1.ModelRegistrySpec
	Proxy *v1beta1.ProxyConfig
	// Generated reports that the operator runs the database, from DatabaseImage, with Credentials.
	Generated     bool
	DatabaseImage string
	Credentials   map[string][]byte
	// OwnCredentials reports that the Secret is missing or ours; one of somebody else's is used and left alone.
	OwnCredentials bool
	// Host is the name of the proxy's route, empty when there is none or no domain is known.
	Host string
	// ServingCertificate asks the cluster for the certificate of the proxy.
	ServingCertificate bool
	// Annotations of the registry that its Service has, too.
	Annotations map[string]string
	// OpenShift reports that there are routes; Users that there are groups.
	OpenShift, Users bool
}

// published reports whether the proxy has a route.
func (f facts) published() bool {
	return f.Proxy != nil && f.Proxy.ServiceRoute != v1beta1.RouteDisabled
}

// DSN is the address of the database; of two databases PostgreSQL is used. The password is the variable that the template sets.
func (f facts) DSN() string {
	login := func(user, password string, secret *v1beta1.SecretKeyValue) string {
		if secret == nil {
			return user
		}
		return user + ":" + password
	}
	p, m := f.Spec.Postgres, f.Spec.MySQL
	if p == nil {
		user := login(m.Username, "$(MYSQL_PASSWORD)", m.PasswordSecret)
		return fmt.Sprintf("%s@tcp(%s:%d)/%s?charset=utf8mb4", user, m.Host, *m.Port, m.Database)
	}
	user := login(p.Username, "$(POSTGRES_PASSWORD)", p.PasswordSecret)
	dsn := fmt.Sprintf("postgresql://%s@%s:%d/%s", user, cmp.Or(p.Host, p.HostAddress), *p.Port, p.Database) //nolint:nosprintfhostport // the product's
	if p.SSLMode != "" {
		dsn += "?sslmode=" + p.SSLMode
	}
	return dsn
}

// file is a key of a Secret or ConfigMap for TLS with the database, given with the flag --embedmd-database-ssl-<Flag>.
type file struct {
	Database, Part, Flag, Key string
	Secret, ConfigMap         string
}

// Files are the certificates and keys that the connection needs; a ConfigMap goes before a Secret.
func (f facts) Files() (files []file) {
	add := func(database, part, flag string, secret *v1beta1.SecretKeyValue, configMap *v1beta1.ConfigMapKeyValue) {
		switch {
		case configMap != nil && configMap.Name != "":
			files = append(files, file{Database: database, Part: part, Flag: flag, Key: configMap.Key, ConfigMap: configMap.Name})
		case secret != nil && secret.Name != "":
			files = append(files, file{Database: database, Part: part, Flag: flag, Key: secret.Key, Secret: secret.Name})
		}
	}
	if p := f.Spec.Postgres; p != nil {
		add("postgres", "cert", "cert", p.SSLCertificateSecret, nil)
		add("postgres", "key", "key", p.SSLKeySecret, nil)
		add("postgres", "rootcert", "root-cert", p.SSLRootCertificateSecret, p.SSLRootCertificateConfigMap)
		return files
	}
	m := f.Spec.MySQL
	add("mysql", "cert", "cert", m.SSLCertificateSecret, nil)
	add("mysql", "key", "key", m.SSLKeySecret, nil)
	add("mysql", "rootcert", "root-cert", m.SSLRootCertificateSecret, m.SSLRootCertificateConfigMap)
	add("mysql", "rootcerts", "ca", &v1beta1.SecretKeyValue{Name: m.SSLRootCertificatesSecretName},
		&v1beta1.ConfigMapKeyValue{Name: m.SSLRootCertificatesConfigMapName})
	return files
}
