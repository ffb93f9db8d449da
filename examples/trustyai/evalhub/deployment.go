package evalhub

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/proxy"
)

const (
	serverPort  = 8444
	metricsPort = 8081
	healthPath  = "/api/v1/health"
)

func (obs Observation) selector(component string) map[string]string {
	return map[string]string{"app": "eval-hub", "instance": norm(obs.hub.Name), "component": component}
}

// workload returns a Deployment of a server with the proxy in front of it.
func (obs Observation) workload(
	name, component string, replicas *int32, volumes []corev1.Volume, server, sidecar corev1.Container,
) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: obs.hub.Namespace, Name: name}}
	d.Spec.Replicas = new(ptr.Deref(replicas, 1))
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: obs.selector(component)}
	share := intstr.FromString("25%")
	d.Spec.Strategy = appsv1.DeploymentStrategy{
		Type:          appsv1.RollingUpdateDeploymentStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDeployment{MaxUnavailable: &share, MaxSurge: &share},
	}
	d.Spec.Template.Labels = obs.selector(component)
	d.Spec.Template.Spec = corev1.PodSpec{
		ServiceAccountName: obs.names.account(), Volumes: volumes, Containers: []corev1.Container{server, sidecar},
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
	}
	for i := range d.Spec.Template.Spec.Containers {
		d.Spec.Template.Spec.Containers[i].SecurityContext = &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), RunAsNonRoot: new(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		}
	}
	return d
}

// pod collects the volumes and mounts of a server.
type pod struct {
	volumes []corev1.Volume
	mounts  []corev1.VolumeMount
}

func (p *pod) volume(name string, from corev1.VolumeSource) {
	p.volumes = append(p.volumes, corev1.Volume{Name: name, VolumeSource: from})
}

func (p *pod) add(name, path string, from corev1.VolumeSource) {
	p.volume(name, from)
	p.mounts = append(p.mounts, proxy.Mount(name, path))
}

// deployment returns the Deployment of the server.
func (obs Observation) deployment() *appsv1.Deployment {
	hub, p := obs.hub, &pod{}
	tls := obs.names.service("-tls")
	p.add("evalhub-config", "/etc/evalhub/config", proxy.FromConfigMap(long(hub.Name+"-config")))
	p.volume(tls, proxy.FromSecret(tls))
	p.add("service-ca", "/etc/evalhub/ca", proxy.FromConfigMap(long(hub.Name+"-service-ca")))
	p.add("mlflow-ca-bundle", "/etc/evalhub/mlflow-ca", proxy.FromConfigMap(long(hub.Name+"-mlflow-ca-bundle")))
	p.add("mlflow-token", "/var/run/secrets/mlflow", corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		DefaultMode: ptr.To[int32](420),
		Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{
			Path: "token", ExpirationSeconds: ptr.To[int64](3600),
		}}},
	}})
	for _, kind := range kinds {
		var copies []string
		for _, name := range wanted(hub, kind) {
			copies = append(copies, long(hub.Name+"-"+kind+"-"+name))
		}
		for _, v := range []struct {
			suffix, path string
			from         []string
		}{{"", "", copies}, {"-tenant", "/tenant", obs.fetched.catalogues[kind].tenants()}} {
			if len(v.from) > 0 {
				p.add("evalhub-"+kind+"s"+v.suffix, "/etc/evalhub/config/"+kind+"s"+v.path, projected(v.from))
			}
		}
	}
	if hub.Spec.Database.Type == postgresql {
		from := proxy.FromSecret(hub.Spec.Database.Secret)
		from.Secret.Items = []corev1.KeyToPath{{Key: "db-url", Path: "db-url"}}
		p.add("evalhub-db-secret", "/etc/evalhub/secrets", from)
	}
	server := corev1.Container{
		Name: "evalhub", Image: obs.images[images.EvalHub], ImagePullPolicy: corev1.PullAlways,
		Env: override(hub.Spec.Env, obs.defaults(), protected),
		Ports: []corev1.ContainerPort{
			{Name: "evalhub", ContainerPort: serverPort, Protocol: corev1.ProtocolTCP},
			{Name: "metrics", ContainerPort: metricsPort, Protocol: corev1.ProtocolTCP},
		},
		StartupProbe: healthProbe(30), ReadinessProbe: healthProbe(3),
		Resources: obs.resources("evalHub", "500m", "512Mi", "2000m", "2Gi"), VolumeMounts: p.mounts,
	}
	return obs.workload(
		hub.Name, "api", hub.Spec.Replicas, p.volumes, server,
		obs.proxy("http://127.0.0.1:8444", healthPath, tls, "evalhub-config", "service-ca"),
	)
}

// healthProbe probes the health of a server through its proxy. Failures is the number of consecutive failures that count.
func healthProbe(failures int32) *corev1.Probe {
	get := &corev1.HTTPGetAction{Path: healthPath, Port: intstr.FromInt32(8443), Scheme: corev1.URISchemeHTTPS}
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: get}, PeriodSeconds: 10, TimeoutSeconds: 5, FailureThreshold: failures}
}

// proxy returns the proxy in front of a server. The health endpoint needs no permission.
func (obs Observation) proxy(upstream, health, tls, config, authority string) corev1.Container {
	auth := proxy.Mount(config, "/etc/kube-rbac-proxy/auth.yaml")
	auth.SubPath = "auth.yaml"
	c := proxy.Sidecar{
		Name: "kube-rbac-proxy", Image: obs.images[images.Proxy], Port: 8443, HealthPort: 9443, Upstream: upstream, File: "auth.yaml",
		Args: []string{"--ignore-paths=" + health, "--auth-header-fields-enabled", "--auth-header-user-field-name=X-User"},
		Mounts: []corev1.VolumeMount{
			proxy.Mount(tls, "/etc/tls/private"), auth, proxy.Mount(authority, "/etc/kube-rbac-proxy/upstream-ca"),
		},
	}.Container()
	c.ReadinessProbe, c.Resources = nil, obs.resources("kubeRBACProxy", "100m", "128Mi", "500m", "512Mi")
	return c
}

// resources returns the defaults, overridden by the settings of the operator. It ignores invalid quantities.
func (obs Observation) resources(prefix, cpu, memory, maxCPU, maxMemory string) corev1.ResourceRequirements {
	value := func(key, otherwise string) resource.Quantity {
		if settings := obs.fetched.settings.Value; settings != nil {
			if q, err := resource.ParseQuantity(settings.Data[prefix+key]); err == nil {
				return q
			}
		}
		return resource.MustParse(otherwise)
	}
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: value("CPURequest", cpu), corev1.ResourceMemory: value("MemoryRequest", memory)},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: value("CPULimit", maxCPU), corev1.ResourceMemory: value("MemoryLimit", maxMemory)},
	}
}

// protected are variables that a user cannot set.
var protected = []string{
	"API_HOST", "PORT", "TLS_CERT_FILE", "TLS_KEY_FILE", "METRICS_PORT", "METRICS_HOST", "EVALHUB_HARDWARE_PROFILES_NAMESPACE",
}

// defaults returns the environment of the server.
func (obs Observation) defaults() []corev1.EnvVar {
	return variables(
		"API_HOST", "127.0.0.1", "PORT", "8444", "LOG_LEVEL", "INFO", "MAX_CONCURRENT_EVALUATIONS", "10", "DEFAULT_TIMEOUT_MINUTES", "60",
		"MAX_RETRY_ATTEMPTS", "3", "EVAL_HUB_CONFIG_DIR", "/etc/evalhub/config", "SERVICE_URL", obs.names.url(""),
		"EVALHUB_INSTANCE_NAME", obs.hub.Name,
		"EVALHUB_HARDWARE_PROFILES_NAMESPACE", obs.op, "MLFLOW_CA_CERT_PATH", "/etc/evalhub/mlflow-ca/"+bundleKey,
		"MLFLOW_WORKSPACE", obs.hub.Namespace,
		"MLFLOW_TOKEN_PATH", "/var/run/secrets/mlflow/token", "METRICS_PORT", "8081", "METRICS_HOST", "0.0.0.0")
}

func variables(pairs ...string) (out []corev1.EnvVar) {
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, corev1.EnvVar{Name: pairs[i], Value: pairs[i+1]})
	}
	return out
}

// override returns the variables of a user without duplicates, followed by the defaults that they do not set. A protected variable
// keeps its default, or is dropped if it has none.
func override(users, defaults []corev1.EnvVar, protected []string) (out []corev1.EnvVar) {
	find := func(list []corev1.EnvVar, name string) int {
		return slices.IndexFunc(list, func(e corev1.EnvVar) bool { return e.Name == name })
	}
	for _, e := range users {
		at := find(defaults, e.Name)
		switch {
		case find(out, e.Name) >= 0:
		case !slices.Contains(protected, e.Name):
			out = append(out, e)
		case at >= 0:
			out = append(out, defaults[at])
		}
	}
	for _, e := range defaults {
		if find(out, e.Name) < 0 {
			out = append(out, e)
		}
	}
	return out
}
