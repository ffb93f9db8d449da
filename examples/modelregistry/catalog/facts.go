package catalog

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// facts are what the templates are rendered with.
type facts struct {
	Settings
	// Domain is that of the route, empty when none is known.
	Domain string
	// Platform, Server and Database are references to what owns children, nil when it does not exist.
	Platform, Server, Database []metav1.OwnerReference
	// Groups administer the catalog; Sources are the ConfigMaps that offer themselves.
	Groups, Sources []string
	Credentials     map[string][]byte
	OpenShift       bool

	// defaults is the managed document of sources as it is, nil when it does not exist.
	defaults *corev1.ConfigMap
	// documents are those of users that have to be written, by the name of their ConfigMap.
	documents map[string]*document
}

const (
	name      = "model-catalog"
	database  = "model-catalog-postgres"
	operator  = "model-registry-operator"
	createdBy = "app.kubernetes.io/created-by"
)

// Host is the name of the route.
func (f facts) Host() string { return name + "." + f.Domain }

// Selector are the labels of the server's pods, DatabaseSelector those of the database's.
func (f facts) Selector() map[string]string {
	return map[string]string{"app": name, "component": name, "app.kubernetes.io/name": name}
}

// DatabaseSelector is described with Selector.
func (f facts) DatabaseSelector() map[string]string {
	return f.with(f.Selector(), "app.kubernetes.io/name", database)
}

// Labels are those of an object of the catalog.
func (f facts) Labels(instance string) map[string]string {
	return f.with(f.Selector(), "app.kubernetes.io/instance", instance, "app.kubernetes.io/component", name,
		"app.kubernetes.io/part-of", name, createdBy, operator, "app.kubernetes.io/managed-by", operator)
}

// AdminLabels are those of the rights of administrators.
func (f facts) AdminLabels() map[string]string {
	return f.with(f.Labels(name+"-admin"), "app.kubernetes.io/name", name+"-admin", "app.kubernetes.io/component", name+"-admin")
}

// DatabaseLabels are those of the database, StorageLabels those of what stores and publishes it.
func (f facts) DatabaseLabels() map[string]string {
	return f.with(f.Labels(database), "component", database, "app.kubernetes.io/name", database)
}

// StorageLabels is described with DatabaseLabels.
func (f facts) StorageLabels() map[string]string {
	return f.with(f.DatabaseLabels(), "app", database, "app.kubernetes.io/component", "database")
}

func (facts) with(labels map[string]string, pairs ...string) map[string]string {
	labels = maps.Clone(labels)
	for pair := range slices.Chunk(pairs, 2) {
		labels[pair[0]] = pair[1]
	}
	return labels
}
