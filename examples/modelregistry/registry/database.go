package registry

import (
	"cmp"
	"fmt"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// file is a Secret or ConfigMap for TLS, mounted at Path for the flag --embedmd-database-ssl-<Flag>.
type file struct {
	Volume, Path, Flag, Key string
	Secret, ConfigMap       string
}

// DSN is the address of the database; of two databases PostgreSQL is used. The password is the variable that the template sets.
func (f facts) DSN() string {
	login := func(user, variable string, secret *v1beta1.SecretKeyValue) string {
		if secret == nil {
			return user
		}
		return user + ":$(" + variable + ")"
	}
	if m := f.Spec.MySQL; f.Spec.Postgres == nil {
		return fmt.Sprintf("%s@tcp(%s:%d)/%s?charset=utf8mb4", login(m.Username, "MYSQL_PASSWORD", m.PasswordSecret), m.Host, *m.Port, m.Database)
	}
	p := f.Spec.Postgres
	//nolint:nosprintfhostport // as the product writes it
	dsn := fmt.Sprintf("postgresql://%s@%s:%d/%s", login(p.Username, "POSTGRES_PASSWORD", p.PasswordSecret),
		cmp.Or(p.Host, p.HostAddress), *p.Port, p.Database)
	if p.SSLMode != "" {
		dsn += "?sslmode=" + p.SSLMode
	}
	return dsn
}

// Files are the certificates and keys that the connection needs; a ConfigMap goes before a Secret.
func (f facts) Files() (files []file) {
	kind := "postgres"
	add := func(part, flag string, secret *v1beta1.SecretKeyValue, configMap *v1beta1.ConfigMapKeyValue) {
		added := file{Volume: kind + "-ssl-" + part, Path: "/etc/" + kind + "_ssl_" + part, Flag: flag}
		switch {
		case configMap != nil && configMap.Name != "":
			added.ConfigMap, added.Key = configMap.Name, configMap.Key
		case secret != nil && secret.Name != "":
			added.Secret, added.Key = secret.Name, secret.Key
		default:
			return
		}
		files = append(files, added)
	}
	if p := f.Spec.Postgres; p != nil {
		add("cert", "cert", p.SSLCertificateSecret, nil)
		add("key", "key", p.SSLKeySecret, nil)
		add("rootcert", "root-cert", p.SSLRootCertificateSecret, p.SSLRootCertificateConfigMap)
		return files
	}
	m := f.Spec.MySQL
	kind = "mysql"
	add("cert", "cert", m.SSLCertificateSecret, nil)
	add("key", "key", m.SSLKeySecret, nil)
	add("rootcert", "root-cert", m.SSLRootCertificateSecret, m.SSLRootCertificateConfigMap)
	add("rootcerts", "ca", &v1beta1.SecretKeyValue{Name: m.SSLRootCertificatesSecretName},
		&v1beta1.ConfigMapKeyValue{Name: m.SSLRootCertificatesConfigMapName})
	return files
}
