package runtimes

import (
	"fmt"
	"strings"

	"github.com/reconcilekit/reconcilekit/layers/container"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// mesh returns the container of ModelMesh.
func (b *build) mesh() corev1.Container {
	c := b.Config
	ports := []corev1.ContainerPort{{Name: "grpc", ContainerPort: int32(c.InferenceServicePort)}}
	if c.Metrics.Enabled {
		ports = append(ports, corev1.ContainerPort{Name: "prometheus", ContainerPort: int32(c.Metrics.Port)})
	}
	probe := func(path string) corev1.ProbeHandler {
		return corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromInt32(portHealth)}}
	}
	return corev1.Container{
		Name: "mm", Image: c.ModelMeshImage.Reference(), Env: b.meshEnv(), Ports: ports, Resources: amounts(c.ModelMeshResources),
		VolumeMounts: append(append(b.socketMount(),
			corev1.VolumeMount{Name: volumeTypes, MountPath: typesPath},
			corev1.VolumeMount{Name: volumeEtcd, MountPath: etcdPath, ReadOnly: true}), b.tlsMount()...),
		ReadinessProbe: &corev1.Probe{ProbeHandler: probe("/ready"), InitialDelaySeconds: 5, PeriodSeconds: 5, TimeoutSeconds: 1},
		LivenessProbe: &corev1.Probe{
			ProbeHandler: probe("/live"), InitialDelaySeconds: 90, PeriodSeconds: 30, TimeoutSeconds: 5, FailureThreshold: 2,
		},
		Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{
			Exec: &corev1.ExecAction{Command: []string{"/opt/kserve/mmesh/stop.sh", "wait"}},
		}},
		SecurityContext: unprivileged(),
	}
}

// meshEnv returns the variables in the order of the product: the configuration overrides the first ones, and the last ones override
// the configuration.
func (b *build) meshEnv() []corev1.EnvVar {
	var extra []corev1.EnvVar
	for _, v := range b.Config.InternalModelMeshEnvVars {
		if v.Name != "KV_STORE" {
			extra = append(extra, corev1.EnvVar{Name: v.Name, Value: v.Value})
		}
	}
	return container.Env{}.Merge(b.lastEnv(), extra, b.firstEnv())
}

func (b *build) firstEnv() []corev1.EnvVar {
	c := b.Config
	field := func(name, path string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
	}
	metrics := "disabled"
	if c.Metrics.Enabled {
		metrics = fmt.Sprintf("prometheus:port=%d;scheme=%s", c.Metrics.Port, c.Metrics.Scheme)
	}
	return []corev1.EnvVar{
		{Name: "MM_SERVICE_NAME", Value: c.InferenceServiceName},
		{Name: "MM_SVC_GRPC_PORT", Value: number(c.InferenceServicePort)},
		field("WKUBE_POD_NAME", "metadata.name"), field("WKUBE_POD_IPADDR", "status.podIP"), field("MM_LOCATION", "status.hostIP"),
		{Name: "KV_STORE", Value: "etcd:" + etcdPath + "/etcd_connection"},
		{Name: "MM_METRICS", Value: metrics},
		{Name: "SHUTDOWN_TIMEOUT_MS", Value: number(gracePeriod * 1000)},
	}
}

func (b *build) lastEnv() []corev1.EnvVar {
	c := b.Config
	env := listening(b.endpoints.data, "INTERNAL_SERVING_GRPC")
	management := b.endpoints.management
	if b.puller() {
		management = endpoint{port: number(portPuller)}
	}
	env = append(env, listening(management, "INTERNAL_GRPC")...)
	if c.EnableAccessLogging {
		env = append(env, corev1.EnvVar{Name: "MM_LOG_EACH_INVOKE", Value: "true"})
	}
	if c.GrpcMaxMessageSizeBytes > 0 {
		env = append(env, corev1.EnvVar{Name: "MM_SVC_GRPC_MAX_MSG_SIZE", Value: number(c.GrpcMaxMessageSizeBytes)})
	}
	env = append(env, corev1.EnvVar{Name: "MM_KVSTORE_PREFIX", Value: "mm"}, corev1.EnvVar{Name: "MM_DEFAULT_VMODEL_OWNER", Value: "ksp"})
	if len(c.PayloadProcessors) > 0 {
		env = append(env, corev1.EnvVar{Name: "MM_PAYLOAD_PROCESSORS", Value: strings.Join(c.PayloadProcessors, " ")})
	}
	return append(append(env,
		corev1.EnvVar{Name: "MM_LABELS", Value: strings.Join(b.Labels(c.RESTProxy.Enabled), ",")},
		corev1.EnvVar{Name: "MM_TYPE_CONSTRAINTS_PATH", Value: typesPath + "/type_constraints"},
		corev1.EnvVar{Name: "MM_DATAPLANE_CONFIG_PATH", Value: typesPath + "/dataplane_api_config"}), b.tlsEnv()...)
}

// listening returns the variables with the address of a container of the runtime, or none if it is unknown.
func listening(e endpoint, prefix string) []corev1.EnvVar {
	switch {
	case e.port != "":
		return []corev1.EnvVar{{Name: prefix + "_PORT", Value: e.port}}
	case e.socket != "":
		return []corev1.EnvVar{{Name: prefix + "_SOCKET_PATH", Value: e.socket}}
	}
	return nil
}
