// Package proxy builds a sidecar that authorizes requests to a program. It admits clients that may get the program's Service.
package proxy

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// EnableAuth is the annotation of an owner that requests a proxy, with the value true in any case.
const EnableAuth = "security.opendatahub.io/enable-auth"

// Enabled reports whether the annotations of an owner request a proxy.
func Enabled(annotations map[string]string) bool {
	return strings.EqualFold(annotations[EnableAuth], "true")
}

// Sidecar is the proxy of one program.
type Sidecar struct {
	// Name is the name of the container.
	Name string
	// Image is the image of the proxy.
	Image string
	// Port is the protected port, HealthPort that of the proxy's own health.
	Port, HealthPort int32
	// Upstream is the address of the program. FileUpstream is its address in the configuration; the default is Upstream.
	Upstream, FileUpstream string
	// UpstreamCA is the file with the authority of the program, empty for none. FileUpstreamCA is that of the configuration.
	UpstreamCA, FileUpstreamCA string
	// Namespace and Service name the Service that a client must be allowed to get.
	Namespace, Service string
	// File is the configuration. Default config.yaml.
	File string
	// Args are further arguments.
	Args []string
	// Mounts are the mounts of the certificates and the configuration.
	Mounts []corev1.VolumeMount
}

// Mount returns a read-only mount of a volume.
func Mount(volume, path string) corev1.VolumeMount {
	return corev1.VolumeMount{Name: volume, MountPath: path, ReadOnly: true}
}

// FromConfigMap returns a volume source with all keys of a ConfigMap.
func FromConfigMap(name string) corev1.VolumeSource {
	return corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, DefaultMode: new(corev1.ConfigMapVolumeSourceDefaultMode),
	}}
}

// FromSecret returns a volume source with all keys of a Secret.
func FromSecret(name string) corev1.VolumeSource {
	return corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name, DefaultMode: new(corev1.SecretVolumeSourceDefaultMode)}}
}

// Termination returns the TLS termination of a route: reencrypt if the program has a proxy with a certificate, else edge.
func Termination(annotations map[string]string) string {
	if Enabled(annotations) {
		return "reencrypt"
	}
	return "edge"
}

// Container returns the container of the proxy.
func (s Sidecar) Container() corev1.Container {
	args := []string{
		fmt.Sprintf("--secure-listen-address=0.0.0.0:%d", s.Port),
		"--upstream=" + s.Upstream + "/",
		"--config-file=/etc/kube-rbac-proxy/" + cmp.Or(s.File, "config.yaml"),
		"--tls-cert-file=/etc/tls/private/tls.crt",
		"--tls-private-key-file=/etc/tls/private/tls.key",
	}
	if s.UpstreamCA != "" {
		args = append(args, "--upstream-ca-file="+s.UpstreamCA)
	}
	args = append(args, fmt.Sprintf("--proxy-endpoints-port=%d", s.HealthPort), "--v=0")
	args = append(args, s.Args...)
	return corev1.Container{
		Name: s.Name, Image: s.Image, Args: args,
		Ports: []corev1.ContainerPort{
			{Name: "https", ContainerPort: s.Port, Protocol: corev1.ProtocolTCP},
			{Name: "proxy-healthz", ContainerPort: s.HealthPort, Protocol: corev1.ProtocolTCP},
		},
		ReadinessProbe: s.probe(5, 5), LivenessProbe: s.probe(30, 10),
		Resources:    corev1.ResourceRequirements{Limits: resources("100m", "64Mi"), Requests: resources("50m", "32Mi")},
		VolumeMounts: s.Mounts,
	}
}

func (s Sidecar) probe(delay, period int32) *corev1.Probe {
	get := &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(s.HealthPort), Scheme: corev1.URISchemeHTTPS}
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: get}, InitialDelaySeconds: delay, PeriodSeconds: period,
		TimeoutSeconds: 1, SuccessThreshold: 1, FailureThreshold: 3,
	}
}

func resources(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

// Config returns the configuration of the proxy: the permission that a client needs, and the TLS settings.
func (s Sidecar) Config() string {
	upstream, authority := s.FileUpstream, ""
	if upstream == "" {
		upstream = s.Upstream
	}
	if s.FileUpstreamCA != "" {
		authority = fmt.Sprintf("\n  upstreamCAFile: %q", s.FileUpstreamCA)
	}
	return fmt.Sprintf(config, s.Namespace, s.Service, upstream, authority)
}

const config = `authorization:
  resourceAttributes:
    namespace: %q
    apiGroup: ""
    resource: services
    resourceName: %q
    verb: get
upstreamConfig:
  url: %q
  proxyTimeout: 30s%s
tlsConfig:
  minVersion: VersionTLS12
  cipherSuites:
  - TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
  - TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384
  - TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
  - TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
  - TLS_RSA_WITH_AES_128_GCM_SHA256
  - TLS_RSA_WITH_AES_256_GCM_SHA384
`
