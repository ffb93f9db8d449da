package tas

import (
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/external"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/proxy"
)

const (
	processors  = "MM_PAYLOAD_PROCESSORS" // addresses, separated by blanks
	certificate = "MM_TLS_KEY_CERT_PATH"
	tlsPath     = "/etc/trustyai/tls"
)

// payloads makes the programs of ModelMesh send their payloads to the service after their rollout. Programs that already send them
// continue.
func (m *models) payloads(s *v1.TrustyAIService, f Fetched) {
	for i := range f.meshes.Value.Items {
		d, key := &f.meshes.Value.Items[i], external.EditKey(&f.meshes.Value.Items[i], s.Name)
		if slices.ContainsFunc(d.Spec.Template.Spec.Containers, elsewhere) {
			m.taken = append(m.taken, "Deployment "+d.Name)
		}
		if sends := f.payloads[key]; sends.OK() && sends.Value || d.Status.ReadyReplicas == ptr.Deref(d.Spec.Replicas, 1) {
			m.edits = append(m.edits, key)
		}
	}
}

// elsewhere reports whether a container takes its addresses from a source that cannot be extended.
func elsewhere(c corev1.Container) bool {
	at := find(c.Env, processors)
	return at >= 0 && c.Env[at].ValueFrom != nil
}

func find(env []corev1.EnvVar, name string) int {
	return slices.IndexFunc(env, func(e corev1.EnvVar) bool { return e.Name == name })
}

func addressOf(d *appsv1.Deployment, service string) string {
	return "https://" + service + "." + d.Namespace + ".svc/consumer/kserve/v2"
}

// addPayloads adds the address of a service to the addresses of a ModelMesh program, and the certificate for it. If there are
// several services, the first one provides the certificate.
func addPayloads(d *appsv1.Deployment, service string) {
	pod, secret := &d.Spec.Template.Spec, service+"-internal"
	for i := range pod.Containers {
		c := &pod.Containers[i]
		switch at := find(c.Env, processors); {
		case at < 0:
			c.Env = append(c.Env, corev1.EnvVar{Name: processors, Value: addressOf(d, service)})
		case c.Env[at].ValueFrom == nil && !slices.Contains(strings.Fields(c.Env[at].Value), addressOf(d, service)):
			c.Env[at].Value = strings.TrimPrefix(c.Env[at].Value+" "+addressOf(d, service), " ")
		}
		if !slices.ContainsFunc(c.VolumeMounts, atTLSPath) {
			c.VolumeMounts = append(c.VolumeMounts, proxy.Mount(secret, tlsPath))
			if !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == secret }) {
				from := corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret}}
				pod.Volumes = append(pod.Volumes, corev1.Volume{Name: secret, VolumeSource: from})
			}
		}
		if c.Name == "mm" && find(c.Env, certificate) < 0 {
			c.Env = append(c.Env, corev1.EnvVar{Name: certificate, Value: tlsPath + "/tls.crt"})
		}
	}
}

func atTLSPath(m corev1.VolumeMount) bool { return m.MountPath == tlsPath }

// removePayloads removes the address and the certificate that addPayloads adds. It does not change other addresses.
func removePayloads(d *appsv1.Deployment, service string) {
	pod, secret := &d.Spec.Template.Spec, service+"-internal"
	for i := range pod.Containers {
		c := &pod.Containers[i]
		if at := find(c.Env, processors); at >= 0 && c.Env[at].ValueFrom == nil {
			words := strings.Split(c.Env[at].Value, " ")
			left := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return word == addressOf(d, service) })
			if c.Env[at].Value = strings.Join(left, " "); len(left) < len(words) && strings.TrimSpace(c.Env[at].Value) == "" {
				c.Env = slices.Delete(c.Env, at, at+1)
			}
		}
		mounted := len(c.VolumeMounts)
		c.VolumeMounts = slices.DeleteFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return atTLSPath(m) && m.Name == secret })
		if at := find(c.Env, certificate); len(c.VolumeMounts) < mounted && at >= 0 && c.Env[at].Value == tlsPath+"/tls.crt" {
			c.Env = slices.Delete(c.Env, at, at+1)
		}
	}
	pod.Volumes = slices.DeleteFunc(pod.Volumes, func(v corev1.Volume) bool {
		return v.Name == secret && v.Secret != nil && v.Secret.SecretName == secret
	})
}
