package registry

import (
	"fmt"
	"maps"

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

const (
	component = "model-registry"
	operator  = "model-registry-operator"
)

// Selector are the labels of the pods of a program.
func (f facts) Selector(program string) map[string]string {
	return map[string]string{"app": f.Name, "component": component, "app.kubernetes.io/name": program}
}

// Labels are those of an object of the registry.
func (f facts) Labels(instance string) map[string]string {
	labels := f.Selector(f.Name)
	maps.Copy(labels, map[string]string{
		"app.kubernetes.io/instance": instance, "app.kubernetes.io/component": component, "app.kubernetes.io/part-of": component,
		"app.kubernetes.io/created-by": operator, "app.kubernetes.io/managed-by": operator,
	})
	return labels
}

// DatabaseLabels are those of an object of the generated database.
func (f facts) DatabaseLabels(instance string) map[string]string {
	labels := f.Labels(instance)
	database := f.Name + "-postgres"
	labels["app"], labels["component"] = database, "model-registry-postgres"
	labels["app.kubernetes.io/name"], labels["app.kubernetes.io/component"] = database, "database"
	return labels
}

// ClusterLabels are those of an object outside the namespace.
func (f facts) ClusterLabels(instance string) map[string]string {
	labels := f.Labels(instance)
	labels["modelregistry.opendatahub.io/namespace"] = f.Namespace
	return labels
}

// ExternalAddress is host and port of the proxy's route.
func (f facts) ExternalAddress() string { return fmt.Sprintf("%s:%d", f.Host, *f.Proxy.RoutePort) }

// published reports whether the proxy has a route.
func (f facts) published() bool {
	return f.Proxy != nil && f.Proxy.ServiceRoute != v1beta1.RouteDisabled
}
