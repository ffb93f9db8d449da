package tas

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/proxy"
)

const (
	// version is a label value of the children.
	version   = "1.39.0"
	trustedCA = "odh-trusted-ca-bundle"
	server    = "trustyai-service"
	batchSize = 5000
)

// facts is the input of the templates.
type facts struct {
	Name, Namespace, OperatorNamespace, Version string
	Spec                                        *v1.TrustyAIServiceSpec

	images      map[string]string
	credentials string // the Secret of the database
	databaseCA  bool
	authority   bool
	// Provisioned reports that the storage is ready.
	Provisioned bool
	// InMesh reports that a model in a service mesh sends its traffic to the service.
	InMesh bool
}

// Host returns the hostname of the Service.
func (f facts) Host() string { return hostOf(f.Name, f.Namespace) }

func hostOf(name, namespace string) string { return name + "." + namespace + ".svc.cluster.local" }

// Proxy returns the proxy of the server.
func (f facts) Proxy() proxy.Sidecar {
	s := proxy.Sidecar{
		Name: "kube-rbac-proxy", Image: f.images[images.Proxy], Port: 8443, HealthPort: 9443, Upstream: "http://127.0.0.1:8081",
		Namespace: f.Namespace, Service: f.Name,
		Mounts: []corev1.VolumeMount{
			proxy.Mount(f.Name+"-tls", "/etc/tls/private"), proxy.Mount("kube-rbac-proxy-config", "/etc/kube-rbac-proxy"),
		},
	}
	if f.authority {
		mount := proxy.Mount(trustedCA, "/etc/ssl/certs/ca-bundle.crt")
		mount.SubPath = "ca-bundle.crt"
		s.Mounts = append(s.Mounts, mount)
	}
	return s
}

// Containers returns the server and its proxy.
func (f facts) Containers() []corev1.Container {
	probe := func(path string) *corev1.Probe {
		get := &corev1.HTTPGetAction{Path: path, Port: intstr.FromInt32(8080)}
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: get}, InitialDelaySeconds: 10, PeriodSeconds: 5, TimeoutSeconds: 2}
	}
	c := corev1.Container{
		Name: server, Image: f.images[images.Service], Env: f.env(),
		ReadinessProbe: probe("/q/health/ready"), LivenessProbe: probe("/q/health/live"),
		VolumeMounts: []corev1.VolumeMount{{Name: f.Name + "-internal", MountPath: "/etc/tls/internal"}},
	}
	if needsVolume(f.Spec) {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "volume", MountPath: f.Spec.Storage.Folder})
	}
	if f.databaseCA {
		c.VolumeMounts = append(c.VolumeMounts, proxy.Mount("db-ca-cert", "/etc/tls/db"))
	}
	return []corev1.Container{c, f.Proxy().Container()}
}

// Volumes returns the volumes of the containers.
func (f facts) Volumes() []corev1.Volume {
	var out []corev1.Volume
	add := func(volume string, from corev1.VolumeSource) {
		out = append(out, corev1.Volume{Name: volume, VolumeSource: from})
	}
	if needsVolume(f.Spec) {
		add("volume", corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: f.Name + "-pvc"}})
	}
	if f.authority {
		add(trustedCA, proxy.FromConfigMap(trustedCA))
	}
	add(f.Name+"-tls", proxy.FromSecret(f.Name+"-tls"))
	add(f.Name+"-internal", proxy.FromSecret(f.Name+"-internal"))
	add("kube-rbac-proxy-config", proxy.FromConfigMap(f.Name+"-kube-rbac-proxy-config"))
	if f.databaseCA {
		add("db-ca-cert", proxy.FromSecret(f.Name+"-db-ca"))
	}
	return out
}

// env returns the configuration of the server, in the order of the product. During a migration into the database the data format is
// set once, to that of the database.
func (f facts) env() (env []corev1.EnvVar) {
	set := func(name, value string) { env = append(env, corev1.EnvVar{Name: name, Value: value}) }
	from := func(name, key string) {
		selector := &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: f.credentials}, Key: key}
		env = append(env, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: selector}})
	}
	storage, data := f.Spec.Storage, ptr.Deref(f.Spec.Data, v1.Data{})
	set("SERVICE_STORAGE_FORMAT", string(storage.Format))
	if needsVolume(f.Spec) {
		set("STORAGE_DATA_FILENAME", data.Filename)
		set("STORAGE_DATA_FOLDER", storage.Folder)
	}
	if storage.Format == v1.FormatPVC {
		set("SERVICE_DATA_FORMAT", data.Format)
		set("QUARKUS_HIBERNATE_ORM_ACTIVE", "false")
	} else {
		set("QUARKUS_HIBERNATE_ORM_ACTIVE", "true")
		from("QUARKUS_DATASOURCE_DB_KIND", "databaseKind")
		set("QUARKUS_DATASOURCE_JDBC_MAX_SIZE", "16")
		from("QUARKUS_DATASOURCE_USERNAME", "databaseUsername")
		from("QUARKUS_DATASOURCE_PASSWORD", "databasePassword")
		from("DATABASE_SERVICE", "databaseService")
		from("DATABASE_PORT", "databasePort")
		from("DATABASE_NAME", "databaseName")
		url := "jdbc:${QUARKUS_DATASOURCE_DB_KIND}://${DATABASE_SERVICE}:${DATABASE_PORT}/${DATABASE_NAME}"
		if f.databaseCA {
			url += "?requireSSL=true&sslMode=verify-ca&serverSslCert=/etc/tls/db/ca.crt"
		}
		set("QUARKUS_DATASOURCE_JDBC_URL", url)
		set("SERVICE_DATA_FORMAT", "HIBERNATE")
		from("QUARKUS_DATASOURCE_GENERATION", "databaseGeneration")
	}
	set("SERVICE_METRICS_SCHEDULE", f.Spec.Metrics.Schedule)
	set("SERVICE_BATCH_SIZE", strconv.Itoa(ptr.Deref(f.Spec.Metrics.BatchSize, batchSize)))
	if f.Spec.Migrates() {
		set("STORAGE_MIGRATION_CONFIG_FROM_FOLDER", storage.Folder)
		set("STORAGE_MIGRATION_CONFIG_FROM_FILENAME", data.Filename)
	}
	return env
}
