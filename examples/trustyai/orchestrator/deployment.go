package orchestrator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/layers/podtemplate"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/guardrails"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/proxy"
)

// authority is the certificate of the cluster's authority in the pods.
const authority = "/etc/tls/ca/service-ca.crt"

// part is a program of the pods.
type part struct {
	name          string // the name of its proxy
	suffix, image string
	port, secured int32 // without and with a proxy
	health        int32 // of its proxy
	servicePort   string
	unproxied     string // the port of the Service that bypasses its proxy, or empty
	upstream      string
	fileUpstream  string
}

func (p part) configMap(owner string) string {
	return guardrails.Name(owner, "-kube-rbac-proxy-"+p.name+"-config")
}

// parts returns the programs of the orchestrator, in the order of the containers.
func (obs Observation) parts() (out []part) {
	spec := obs.owner.Spec
	if !spec.DisableOrchestrator {
		upstream := fmt.Sprintf("https://%s.%s.svc:8032", serviceOf(obs.owner), obs.owner.Namespace)
		out = append(
			out,
			part{"orchestrator", "", images.Orchestrator, 8032, 8432, 9443, "https", "https-tls", upstream, "https://127.0.0.1:8032"},
		)
	}
	if spec.EnableGuardrailsGateway {
		out = append(
			out,
			part{"gateway", "-gateway", images.Gateway, 8090, 8490, 9444, "gateway", "", "http://localhost:8090", "http://127.0.0.1:8090"},
		)
	}
	if spec.EnableBuiltInDetectors {
		out = append(out, part{
			"built-in", "-detectors", images.Detectors, 8080, 8480, 9445, builtIn, builtIn + "-metrics", "http://localhost:8080",
			"http://127.0.0.1:8080",
		})
	}
	return out
}

func serviceOf(o *v1alpha1.GuardrailsOrchestrator) string { return guardrails.Name(o.Name, "-service") }

func (obs Observation) sidecar(p part) proxy.Sidecar {
	s := proxy.Sidecar{
		Name: "kube-rbac-proxy-" + p.name, Image: obs.images[images.Proxy], Port: p.secured, HealthPort: p.health,
		Upstream: p.upstream, FileUpstream: p.fileUpstream, UpstreamCA: authority,
		Namespace: obs.owner.Namespace, Service: serviceOf(obs.owner),
		Mounts: []corev1.VolumeMount{
			proxy.Mount("tls-certs", "/etc/tls/private"), proxy.Mount("tls-ca-bundle", "/etc/tls/ca"),
			proxy.Mount("kube-rbac-proxy-"+p.name+"-config", "/etc/kube-rbac-proxy"),
		},
	}
	if p.name == "orchestrator" {
		s.FileUpstreamCA = authority
	}
	return s
}

// service returns the Service with the ports of the programs, or of their proxies.
func (obs Observation) service() *corev1.Service {
	var ports []corev1.ServicePort
	add := func(name string, port int32) { ports = append(ports, guardrails.Port(name, port, port)) }
	for _, p := range obs.parts() {
		if obs.auth {
			add(p.servicePort, p.secured)
		} else {
			add(p.servicePort, p.port)
		}
		if obs.auth && p.unproxied != "" {
			add(p.unproxied, p.port)
		}
		if p.name == "orchestrator" {
			add("health", 8034)
		}
	}
	return guardrails.Service(obs.owner, serviceOf(obs.owner), ports...)
}

// deployment returns the Deployment of the programs and their proxies.
func (obs Observation) deployment() *appsv1.Deployment {
	o := obs.owner
	d := guardrails.Deployment(o, 1, guardrails.PodLabels(o.Name))
	if !o.Spec.DisableOrchestrator {
		podtemplate.RestartOn(&d.Spec.Template, guardrails.Domain+"orchestrator-config-hash", obs.config.file)
	}
	if o.Spec.EnableGuardrailsGateway {
		podtemplate.RestartOn(&d.Spec.Template, guardrails.Domain+"orchestrator-gateway-config-hash", obs.gateway.file)
	}
	pod := &d.Spec.Template.Spec
	pod.ServiceAccountName = guardrails.Name(o.Name, "-serviceaccount")
	for _, p := range obs.parts() {
		pod.Containers = append(pod.Containers, obs.container(p))
		if obs.auth {
			pod.Containers = append(pod.Containers, obs.sidecar(p).Container())
		}
	}
	pod.Volumes = obs.volumes()
	return d
}

func (obs Observation) container(p part) corev1.Container {
	o := obs.owner
	c := corev1.Container{
		Name: guardrails.Name(o.Name, p.suffix), Image: obs.images[p.image],
		SecurityContext: &corev1.SecurityContext{
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}, Privileged: new(false), RunAsNonRoot: new(true),
			ReadOnlyRootFilesystem: new(true), AllowPrivilegeEscalation: new(false),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
	}
	switch p.name {
	case "orchestrator":
		obs.orchestrate(&c)
	case "gateway":
		c.Command = []string{"/app/bin/vllm-orchestrator-gateway"}
		c.Env = []corev1.EnvVar{
			{Name: "GATEWAY_CONFIG", Value: "/config/config.yaml"},
			{Name: "RUST_LOG", Value: obs.logLevel()},
			{Name: "GATEWAY_USE_MTLS", Value: "false"},
		}
		config := proxy.Mount(guardrails.Name(o.Name, "-sidecar-gateway-config"), "/config/config.yaml")
		config.SubPath = "config.yaml"
		c.VolumeMounts = []corev1.VolumeMount{config, proxy.Mount("tls-certs", "/etc/tls/private"), proxy.Mount("tls-ca-bundle", "/etc/tls/ca")}
	default:
		c.Command = []string{"/app/bin/regex-detector"}
		c.Ports = []corev1.ContainerPort{{Name: builtIn[:8], ContainerPort: p.port, Protocol: corev1.ProtocolTCP}}
		if o.Spec.CustomDetectorsConfig != nil {
			custom := proxy.Mount("custom-detectors-config", "/app/custom_detectors/custom_detectors.py")
			custom.SubPath = "custom_detectors.py"
			c.VolumeMounts = []corev1.VolumeMount{custom}
		}
	}
	c.Env = append(c.Env, o.Spec.Env...)
	return c
}

func (obs Observation) logLevel() string { return cmp.Or(obs.owner.Spec.LogLevel, "info") }

// orchestrate completes the container of the orchestrator.
func (obs Observation) orchestrate(c *corev1.Container) {
	o, otel := obs.owner, obs.owner.Spec.OTelExporter
	set := func(name, value string) { c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value}) }
	c.ImagePullPolicy, c.Command = corev1.PullAlways, []string{"/app/bin/fms-guardrails-orchestr8"}
	set("ORCHESTRATOR_CONFIG", "/config/config.yaml")
	set("HTTP_PORT", "8032")
	set("RUST_BACKTRACE", "full")
	set("TLS_CERT_PATH", "/etc/tls/private/tls.crt")
	set("TLS_KEY_PATH", "/etc/tls/private/tls.key")
	set("RUST_LOG", obs.logLevel())
	for _, variable := range [][2]string{
		{"OTEL_EXPORTER_OTLP_PROTOCOL", otel.Protocol},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", otel.TracesEndpoint},
		{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", otel.MetricsEndpoint},
		{"OTLP_EXPORT", exported(otel)},
	} {
		if variable[1] != "" {
			set(variable[0], variable[1])
		}
	}
	port := int32(8033)
	if o.Spec.GuardrailsGatewayConfig != nil {
		port = 8032
	}
	c.Ports = []corev1.ContainerPort{{Name: "https", ContainerPort: port, Protocol: corev1.ProtocolTCP}}
	get := &corev1.HTTPGetAction{Path: "/health", Port: intstr.FromInt32(8034)}
	c.ReadinessProbe = &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: get}, InitialDelaySeconds: 10, TimeoutSeconds: 10, PeriodSeconds: 20,
	}
	c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("2Gi")}
	c.Resources.Limits = c.Resources.Requests
	c.VolumeMounts = []corev1.VolumeMount{
		proxy.Mount(guardrails.Name(o.Name, "-config"), "/config"), proxy.Mount("tls-certs", "/etc/tls/private"),
		proxy.Mount("tls-ca-bundle", "/etc/tls/ca"),
	}
	for _, name := range obs.tlsSecrets() {
		c.VolumeMounts = append(c.VolumeMounts, proxy.Mount(guardrails.Name(name, "-vol"), "/etc/tls/"+name))
	}
}

func exported(otel v1alpha1.OTelExporter) string {
	var names []string
	if otel.EnableTraces {
		names = append(names, "traces")
	}
	if otel.EnableMetrics {
		names = append(names, "metrics")
	}
	return strings.Join(names, ",")
}

// tlsSecrets returns the Secrets of the models that were found and of the spec, without duplicates.
func (obs Observation) tlsSecrets() (names []string) {
	for _, d := range obs.found.secure() {
		names = append(names, d.TLSSecret)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(append(names, obs.owner.Spec.TLSSecrets...), func(name string) bool {
		again := seen[name]
		seen[name] = true
		return again
	})
}

func (obs Observation) volumes() (out []corev1.Volume) {
	o := obs.owner
	add := func(volume string, from corev1.VolumeSource) {
		out = append(out, corev1.Volume{Name: volume, VolumeSource: from})
	}
	configMap := func(volume, name string) { add(volume, proxy.FromConfigMap(name)) }
	secret := func(volume, name string) { add(volume, proxy.FromSecret(name)) }
	if !o.Spec.DisableOrchestrator {
		configMap(guardrails.Name(o.Name, "-config"), obs.config.name)
	}
	if o.Spec.EnableGuardrailsGateway {
		configMap(guardrails.Name(o.Name, "-sidecar-gateway-config"), obs.gateway.name)
	}
	secret("tls-certs", guardrails.Name(o.Name, "-tls"))
	configMap("tls-ca-bundle", guardrails.Name(o.Name, "-ca-bundle"))
	if obs.auth {
		for _, p := range obs.parts() {
			configMap("kube-rbac-proxy-"+p.name+"-config", p.configMap(o.Name))
		}
	}
	if name := o.Spec.CustomDetectorsConfig; name != nil && o.Spec.EnableBuiltInDetectors {
		configMap("custom-detectors-config", *name)
	}
	if !o.Spec.DisableOrchestrator {
		for _, name := range obs.tlsSecrets() {
			secret(guardrails.Name(name, "-vol"), name)
		}
	}
	return out
}

// routesOf returns the routes to the programs.
func routesOf(o *v1alpha1.GuardrailsOrchestrator) (out []guardrails.Route) {
	service, termination := serviceOf(o), proxy.Termination(o.Annotations)
	if !o.Spec.DisableOrchestrator {
		out = append(out, guardrails.Route{Name: o.Name, Service: service, Port: "https", Termination: "reencrypt"},
			guardrails.Route{Name: o.Name + "-health", Service: service, Port: "health", Termination: "edge"})
	}
	if o.Spec.EnableGuardrailsGateway {
		out = append(out, guardrails.Route{Name: o.Name + "-gateway", Service: service, Port: "gateway", Termination: termination})
	}
	if o.Spec.EnableBuiltInDetectors {
		out = append(out, guardrails.Route{Name: o.Name + "-built-in", Service: service, Port: builtIn, Termination: termination})
	}
	return out
}

// monitor returns the ServiceMonitor of the built-in detectors, which bypasses their proxy.
func (obs Observation) monitor() (*foreign.ServiceMonitor, error) {
	o, port := obs.owner, builtIn
	if obs.auth {
		port += "-metrics"
	}
	m := &foreign.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{
		Namespace: o.Namespace, Name: guardrails.Name(o.Name, "-service-monitor"), Labels: map[string]string{"component": o.Name},
	}}
	text, err := json.Marshal(map[string]any{
		"endpoints": []any{map[string]any{
			"port": port, "path": "/metrics", "interval": "30s", "scheme": "http", "honorLabels": true,
			"bearerTokenSecret": map[string]any{"key": ""},
		}},
		"selector":          map[string]any{"matchLabels": map[string]any{"component": o.Name}},
		"namespaceSelector": map[string]any{"matchNames": []any{o.Namespace}},
	})
	m.Spec.Raw = text
	return m, err
}
