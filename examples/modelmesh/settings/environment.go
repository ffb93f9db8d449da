package settings

import (
	"cmp"
	"context"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// enabledLabel is the label of a namespace in which ModelMesh serves models.
const enabledLabel = "modelmesh-enabled"

// Environment contains the settings in the environment of the process.
type Environment struct {
	// Namespace is the namespace of the operator, with its configuration.
	Namespace string
	// Cluster reports whether the operator works in all enabled namespaces, and not only in its own.
	Cluster bool
	// ClusterRuntimes reports whether ClusterServingRuntimes count.
	ClusterRuntimes bool
	// Services reports whether InferenceServices are sources of models if their CRD is installed. ServicesRequired reports that the
	// operator does not start without it.
	Services, ServicesRequired bool
	// Deployment is the Deployment of the operator.
	Deployment string
	// EtcdSecret is the Secret with the connection to etcd.
	EtcdSecret string
}

const (
	defaultEtcdSecret = "model-serving-etcd"
	defaultDeployment = "modelmesh-controller"
)

// FromEnvironment reads the product's variables; getenv is os.Getenv.
func FromEnvironment(getenv func(string) string) Environment {
	e := Environment{
		Namespace: cmp.Or(getenv("NAMESPACE"), "model-serving"), Cluster: getenv("NAMESPACE_SCOPE") != "true",
		Deployment: getenv("CONTROLLER_DEPLOYMENT"), EtcdSecret: cmp.Or(getenv("ETCD_SECRET_NAME"), defaultEtcdSecret),
	}
	watch := getenv("ENABLE_CSR_WATCH")
	e.ClusterRuntimes = watch == "true" || e.Cluster && watch != "false"
	watch = getenv("ENABLE_ISVC_WATCH")
	e.Services, e.ServicesRequired = watch != "false", watch == "true"
	parts := strings.Split(getenv("POD_NAME"), "-")
	if last := len(parts) - 2; e.Deployment == "" && last > 0 { //nolint:mnd // a ReplicaSet and a Pod add one part each to the name
		e.Deployment = strings.Join(parts[:last], "-")
	}
	e.Deployment = cmp.Or(e.Deployment, defaultDeployment)
	return e
}

// EtcdSecretName returns the Secret with the connection to etcd. The environment takes precedence over the configuration.
func (e Environment) EtcdSecretName(c Config) string {
	if e.EtcdSecret == defaultEtcdSecret {
		return cmp.Or(c.EtcdSecretName, defaultEtcdSecret)
	}
	return e.EtcdSecret
}

// Labels returns the labels of all objects that the operator creates in a namespace.
func Labels() map[string]string {
	const operator = "modelmesh-controller"
	return map[string]string{
		"app.kubernetes.io/instance": operator, "app.kubernetes.io/managed-by": operator, "app.kubernetes.io/name": operator,
	}
}

// Enabled reports whether ModelMesh serves models in the namespace, in the cluster scope.
func (e Environment) Enabled(namespace *corev1.Namespace) bool {
	if label, labelled := namespace.Labels[enabledLabel]; labelled {
		return label == "true" && namespace.Status.Phase != corev1.NamespaceTerminating
	}
	return namespace.Name == e.Namespace
}

// FetchEnabled reports whether ModelMesh serves models in the namespace of that name, and returns the namespace in the cluster
// scope. A namespace that does not exist is not enabled. If the read fails, the answer is unknown and FetchEnabled returns the
// error.
func (e Environment) FetchEnabled(ctx context.Context, reader reconcile.Reader, name string) (bool, *corev1.Namespace, error) {
	if !e.Cluster {
		return name == e.Namespace, nil, nil
	}
	namespace := reconcile.Fetch(ctx, reader, types.NamespacedName{Name: name}, &corev1.Namespace{})
	return namespace.Value != nil && e.Enabled(namespace.Value), namespace.Value, namespace.Failure()
}
