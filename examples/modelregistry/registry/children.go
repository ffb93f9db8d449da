package registry

import (
	"cmp"
	"embed"
	"fmt"

	"github.com/reconcilekit/reconcilekit/manifests"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/children"
	"github.com/reconcilekit/reconcilekit/reconcile/secrets"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

//go:embed templates/*.yaml
var templates embed.FS

// newChildren returns all children of a registry. Children of earlier versions of the operator have no owner label, so objects
// without a controller are adopted.
func newChildren(scheme *runtime.Scheme) (*children.Set[facts], error) {
	parsed, err := manifests.Parse(templates, scheme, "templates/*.yaml")
	adopt := []apply.ChildOption{apply.AdoptUncontrolled}
	workload := []apply.ChildOption{apply.AdoptUncontrolled, apply.Recreate()}
	seed := []apply.ChildOption{secrets.Rules(credentials)} // an existing value is never overwritten
	generated := func(f facts) bool { return f.Generated }
	proxied := func(f facts) bool { return f.Proxy != nil }
	return &children.Set[facts]{Manifests: parsed, Children: []children.Child[facts]{
		{Template: "serviceaccount.yaml", Options: adopt},
		{Template: "service.yaml", Options: adopt},
		{Template: "deployment.yaml", Options: workload},
		{Template: "role.yaml", Options: adopt},
		{Template: "rolebinding.yaml", When: func(f facts) bool { return f.OpenShift }, Options: workload},
		{Template: "group.yaml", When: func(f facts) bool { return f.OpenShift && f.Users }, Options: adopt},
		{Template: "route-http.yaml", When: func(f facts) bool { return f.Spec.Rest.ServiceRoute == v1beta1.RouteEnabled }, Options: adopt},
		{Template: "proxy-config.yaml", When: proxied, Options: adopt},
		{Template: "clusterrolebinding.yaml", When: proxied, Options: workload},
		{Template: "route-https.yaml", When: facts.published, Options: adopt},
		{Template: "networkpolicy-https.yaml", When: func(f facts) bool { return f.OpenShift && f.published() }, Options: adopt},
		{Template: "postgres-secret.yaml", When: func(f facts) bool { return f.Generated && f.OwnCredentials }, Retained: true, Options: seed},
		{Template: "postgres-storage.yaml", When: generated, Off: children.Keep, Options: adopt},
		{Template: "postgres-deployment.yaml", When: generated, Options: workload},
		{Template: "postgres-service.yaml", When: generated, Options: adopt},
		{Template: "postgres-networkpolicy.yaml", When: generated, Options: adopt},
	}}, err
}

// facts is the input of the templates.
type facts struct {
	Name, Namespace string
	Owner           *metav1.OwnerReference
	// Spec is the effective spec.
	Spec  *v1beta1.ModelRegistrySpec
	Proxy *v1beta1.ProxyConfig
	// Generated reports that the operator runs the database, from DatabaseImage, with Credentials.
	Generated     bool
	DatabaseImage string
	Credentials   map[string][]byte
	// OwnCredentials reports that the Secret is missing or belongs to the registry. Another Secret is used and not changed.
	OwnCredentials bool
	// Host is the hostname of the proxy's route, empty if there is no route or the domain is unknown.
	Host string
	// ServingCertificate requests the certificate of the proxy from the cluster.
	ServingCertificate bool
	// Annotations of the registry are copied to its Service.
	Annotations map[string]string
	// OpenShift reports whether the cluster has the kind Route, Users whether it has the kind Group.
	OpenShift, Users bool
}

// published reports whether the proxy has a route.
func (f facts) published() bool {
	return f.Proxy != nil && f.Proxy.ServiceRoute != v1beta1.RouteDisabled
}

// DSN returns the address of the database. If the spec has two databases, PostgreSQL is used. The template sets the variable with
// the password.
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
	host := cmp.Or(p.Host, p.HostAddress)
	dsn := fmt.Sprintf("postgresql://%s@%s:%d/%s", user, host, *p.Port, p.Database) //nolint:nosprintfhostport // as in the product
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

// Files returns the certificates and keys that the connection needs. A ConfigMap takes precedence over a Secret.
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
