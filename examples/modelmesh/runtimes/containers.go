package runtimes

import (
	"strings"

	"github.com/reconcilekit/reconcilekit/layers/container"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The ports in a pod.
const (
	portPuller   = 8086
	portHealth   = 8089
	portPreStop  = 8090
	storagePath  = "/storage-config"
	tlsPath      = "/opt/kserve/mmesh/tls/"
	typesPath    = "/etc/watson/mmesh/config"
	etcdPath     = "/opt/kserve/mmesh/etcd"
	claimsFolder = "/pvc_mounts"
)

// handOver returns a hook that keeps a container running until its models are loaded elsewhere.
func handOver() *corev1.Lifecycle {
	return &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{
		HTTPGet: &corev1.HTTPGetAction{Path: "/prestop", Port: intstr.FromInt32(portPreStop)},
	}}
}

// server returns a container of the runtime.
func (b *build) server(given *corev1.Container) corev1.Container {
	c := *given.DeepCopy()
	if c.SecurityContext == nil {
		c.SecurityContext = unprivileged()
	}
	c.VolumeMounts = append(append(append(b.mounts(), b.claimMounts()...), c.VolumeMounts...), b.socketMount()...)
	c.Lifecycle = handOver()
	return c
}

func (b *build) adapterContainer() corev1.Container {
	adapter := b.Spec.BuiltInAdapter
	name := adapter.ServerType + "-adapter"
	data := "port:" + number(adapter.RuntimeManagementPort)
	if b.Spec.GRPCDataEndpoint != nil {
		data = *b.Spec.GRPCDataEndpoint
	}
	_, version, _ := strings.Cut(b.container(adapter.ServerType).Image, ":")
	env := []corev1.EnvVar{
		{Name: "ADAPTER_PORT", Value: b.endpoints.management.port},
		{Name: "RUNTIME_PORT", Value: number(adapter.RuntimeManagementPort)},
		{Name: "RUNTIME_DATA_ENDPOINT", Value: data},
		{Name: "CONTAINER_MEM_REQ_BYTES", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{
			ContainerName: adapter.ServerType, Resource: "requests.memory",
		}}},
		{Name: "MEM_BUFFER_BYTES", Value: number(adapter.MemBufferBytes)},
		{Name: "LOADTIME_TIMEOUT", Value: number(adapter.ModelLoadingTimeoutMillis)},
		{Name: "USE_EMBEDDED_PULLER", Value: "true"},
		{Name: "RUNTIME_VERSION", Value: version},
	}
	for _, limit := range []struct{ annotation, variable string }{
		{"maxLoadingConcurrency", "LOADING_CONCURRENCY"}, {"perModelConcurrencyLimit", "LIMIT_PER_MODEL_CONCURRENCY"},
	} {
		if value, found := b.Annotations[limit.annotation]; found {
			env = append(env, corev1.EnvVar{Name: limit.variable, Value: value})
		}
	}
	mounts := append(append(b.mounts(), b.claimMounts()...), storageMount())
	if b.Spec.GRPCDataEndpoint != nil {
		mounts = append(mounts, b.socketMount()...)
	}
	return corev1.Container{
		Name: name, Image: b.Config.StorageHelperImage.Reference(), Command: []string{"/opt/app/" + name},
		Env: container.Env{}.Merge(adapter.Env, env), Resources: amounts(b.Config.StorageHelperResources),
		VolumeMounts: mounts, SecurityContext: unprivileged(), Lifecycle: handOver(),
	}
}

func (b *build) pullerContainer() corev1.Container {
	image := b.Config.StorageHelperImage
	return corev1.Container{
		Name: "puller", Image: image.Reference(), Command: image.Command,
		Env: []corev1.EnvVar{
			{Name: "PORT", Value: number(portPuller)},
			{Name: "MODEL_SERVER_ENDPOINT", Value: *b.Spec.GRPCEndpoint},
			{Name: "ROOT_MODEL_DIR", Value: "/models"},
			{Name: "STORAGE_CONFIG_DIR", Value: storagePath},
			{Name: "PVC_MOUNTS_DIR", Value: claimsFolder},
		},
		Ports:           []corev1.ContainerPort{{Name: "grpc", ContainerPort: portPuller}},
		Resources:       amounts(b.Config.StorageHelperResources),
		VolumeMounts:    append(append(append(b.mounts(), storageMount()), b.socketMount()...), b.claimMounts()...),
		SecurityContext: unprivileged(), Lifecycle: handOver(),
	}
}

func (b *build) proxy() corev1.Container {
	c, proxy := b.Config, b.Config.RESTProxy
	boolean := map[bool]string{true: "true", false: "false"}
	return corev1.Container{
		Name: "rest-proxy", Image: proxy.Image.Reference(),
		Env: append([]corev1.EnvVar{
			{Name: "REST_PROXY_LISTEN_PORT", Value: number(proxy.Port)},
			{Name: "REST_PROXY_GRPC_PORT", Value: number(c.InferenceServicePort)},
			{Name: "REST_PROXY_USE_TLS", Value: boolean[c.TLS.SecretName != ""]},
			{Name: "REST_PROXY_GRPC_MAX_MSG_SIZE_BYTES", Value: number(c.GrpcMaxMessageSizeBytes)},
			{Name: "REST_PROXY_SKIP_VERIFY", Value: boolean[proxy.SkipVerify]},
		}, b.tlsEnv()...),
		Ports:     []corev1.ContainerPort{{Name: "http", ContainerPort: int32(proxy.Port)}},
		Resources: amounts(proxy.Resources), VolumeMounts: b.tlsMount(),
	}
}

func (b *build) tlsEnv() []corev1.EnvVar {
	if b.Config.TLS.SecretName == "" {
		return nil
	}
	env := []corev1.EnvVar{
		{Name: "MM_TLS_KEY_CERT_PATH", Value: tlsPath + "tls.crt"}, {Name: "MM_TLS_PRIVATE_KEY_PATH", Value: tlsPath + "tls.key"},
	}
	if b.Config.TLS.ClientAuth == "" {
		return env
	}
	trusted := tlsPath + "tls.crt"
	if b.CA {
		trusted += "," + tlsPath + "ca.crt"
	}
	return append(env, corev1.EnvVar{Name: "MM_TLS_CLIENT_AUTH", Value: b.Config.TLS.ClientAuth},
		corev1.EnvVar{Name: "MM_TLS_TRUST_CERT_PATH", Value: trusted})
}

func (b *build) tlsMount() []corev1.VolumeMount {
	if b.Config.TLS.SecretName == "" {
		return nil
	}
	return []corev1.VolumeMount{{Name: volumeTLS, MountPath: strings.TrimSuffix(tlsPath, "/"), ReadOnly: true}}
}
