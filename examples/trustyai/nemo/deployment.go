package nemo

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/guardrails"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/proxy"
)

// bundle is the volume with all CA certificates.
const bundle = "ca-bundle-transfer"

// source is a ConfigMap with CA certificates.
type source struct {
	configMap, path string
	keys            []string
}

// sourcesOf returns the cluster's bundle, the authority of its services, and the user's own certificates.
func sourcesOf(n *v1alpha1.NemoGuardrails) []source {
	out := []source{
		{"odh-trusted-ca-bundle", "/tmp/odh-trusted-ca-bundle/", []string{"ca-bundle.crt"}},
		{guardrails.Name(n.Name, "-ca-bundle"), "/tmp/openshift-serving-ca-bundle/", []string{"service-ca.crt"}},
	}
	if user := n.Spec.CABundleConfig; user != nil {
		keys := user.ConfigMapKeys
		if len(keys) == 0 {
			keys = []string{"ca-bundle.crt"}
		}
		out = append(out, source{user.ConfigMapName, "/tmp/user-ca-bundle/", keys})
	}
	return out
}

var keyPattern = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9\-_.]*[a-zA-Z0-9])?$`)

// badKey returns the error in the user's certificates.
func badKey(n *v1alpha1.NemoGuardrails) string {
	user := n.Spec.CABundleConfig
	if user == nil {
		return ""
	}
	if user.ConfigMapNamespace != "" && user.ConfigMapNamespace != n.Namespace {
		return fmt.Sprintf("spec.caBundleConfig.configMapNamespace: %q must be %s, the namespace of the pods",
			user.ConfigMapNamespace, n.Namespace)
	}
	for _, key := range user.ConfigMapKeys {
		if !keyPattern.MatchString(key) {
			return fmt.Sprintf("spec.caBundleConfig.configMapKeys: %q must match %s", key, keyPattern)
		}
	}
	return ""
}

// authorities returns which certificates were found, with the errors of the product. Those of the cluster's services exist when the
// plan is applied.
func (obs Observation) authorities() *v1alpha1.CAStatus {
	out, sources := &v1alpha1.CAStatus{OpenShiftServingCAFound: true}, sourcesOf(obs.owner)
	missing := func(s source) string {
		if obs.fetched.files[s.configMap].Value == nil {
			return apierrors.NewNotFound(corev1.Resource("configmaps"), s.configMap).Error()
		}
		return ""
	}
	out.ODHTrustedCAError = missing(sources[0])
	out.ODHTrustedCAFound = out.ODHTrustedCAError == ""
	if len(sources) > 2 {
		out.UserCAError = missing(sources[2])
		out.UserCAFound = new(out.UserCAError == "")
	}
	return out
}

// deployment returns the Deployment of the server, with its configurations and the certificates that were found.
func (obs Observation) deployment() *appsv1.Deployment {
	n := obs.owner
	replicas := int32(min(max(n.Spec.Replicas, 1), math.MaxInt32)) //nolint:gosec // limited here
	d := guardrails.Deployment(n, replicas, map[string]string{"app": n.Name})
	d.Spec.Template.Annotations = map[string]string{guardrails.Domain + "nemo-config-hash": obs.hash()}
	pod := &d.Spec.Template.Spec
	volume := func(name string, from corev1.VolumeSource) {
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: name, VolumeSource: from})
	}
	volume("tls-certs", proxy.FromSecret(guardrails.Name(n.Name, "-tls")))
	volume(bundle, corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})
	server := corev1.Container{
		Name: "nemo-guardrails", Image: obs.images[images.Nemo],
		Ports: []corev1.ContainerPort{{ContainerPort: 8000, Protocol: corev1.ProtocolTCP}},
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:        corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(8000)}},
			InitialDelaySeconds: 5, TimeoutSeconds: 2, PeriodSeconds: 5, SuccessThreshold: 1, FailureThreshold: 12,
		},
		Env: append([]corev1.EnvVar{
			{Name: "CONFIG_ID", Value: configID(n)}, {Name: "SSL_CERT_FILE", Value: "/etc/ssl/certs/ca-certificates.crt"},
		}, n.Spec.Env...),
		VolumeMounts: []corev1.VolumeMount{proxy.Mount(bundle, "/etc/ssl/certs/")},
	}
	for _, config := range n.Spec.NemoConfigs {
		name := guardrails.Name(config.Name, "-volume")
		projected := &corev1.ProjectedVolumeSource{}
		for _, configMap := range config.ConfigMaps {
			from := &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: configMap}}
			projected.Sources = append(projected.Sources, corev1.VolumeProjection{ConfigMap: from})
		}
		volume(name, corev1.VolumeSource{Projected: projected})
		server.VolumeMounts = append(server.VolumeMounts, proxy.Mount(name, "/app/config/"+config.Name))
	}
	collector := obs.collector()
	for _, source := range obs.sources() {
		name := guardrails.Name(source.configMap, "-vol")
		volume(name, proxy.FromConfigMap(source.configMap))
		collector.VolumeMounts = append(collector.VolumeMounts, proxy.Mount(name, source.path))
	}
	pod.InitContainers, pod.Containers = []corev1.Container{collector}, []corev1.Container{server}
	if obs.auth {
		pod.ServiceAccountName = guardrails.Name(n.Name, "-serviceaccount")
		pod.Containers = append(pod.Containers, obs.sidecar().Container())
		volume("kube-rbac-config", proxy.FromConfigMap(guardrails.Name(n.Name, "-rbac-proxy-config")))
	}
	if n.Spec.Template != nil && n.Spec.Template.Pod != nil {
		user := n.Spec.Template.Pod
		pod.Affinity, pod.Tolerations, pod.NodeSelector = user.Affinity, user.Tolerations, user.NodeSelector
	}
	return d
}

// configID returns the configuration that is used if a request names none.
func configID(n *v1alpha1.NemoGuardrails) string {
	first := ""
	for _, config := range n.Spec.NemoConfigs {
		if config.Default {
			return config.Name
		}
		first = cmp.Or(first, config.Name)
	}
	return first
}

// sources returns the certificates that were found. The ConfigMap for the cluster's services is a child.
func (obs Observation) sources() (out []source) {
	for i, s := range sourcesOf(obs.owner) {
		if i == 1 || obs.fetched.files[s.configMap].Value != nil {
			out = append(out, s)
		}
	}
	return out
}

// collector returns the container that merges all certificates into one file before the server starts.
func (obs Observation) collector() corev1.Container {
	var paths []string
	for _, s := range obs.sources() {
		for _, key := range s.keys {
			paths = append(paths, `"`+s.path+"/"+key+`"`)
		}
	}
	const target = "/tmp/ca-bundle-transfer//ca-certificates.crt"
	command := `: > ` + target + `
for file_path in ` + strings.Join(paths, " ") + `; do
  if [ -f "$file_path" ]; then
    cat "$file_path" >> ` + target + `
    echo >> ` + target + `
  else
    echo "Warning: Certificate file $file_path not found" >&2
  fi
done
`
	return corev1.Container{
		Name: "ca-bundle-initializer", Image: obs.images[images.Nemo], Command: []string{"/bin/sh", "-c", command},
		VolumeMounts: []corev1.VolumeMount{{Name: bundle, MountPath: "/tmp/ca-bundle-transfer/"}},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), RunAsNonRoot: new(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
}
