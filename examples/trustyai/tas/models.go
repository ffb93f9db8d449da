package tas

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
)

// How a model is deployed, by its annotation. Others are left alone.
const (
	modeAnnotation = "serving.kserve.io/deploymentMode"
	modelMesh      = "ModelMesh"
	processors     = "MM_PAYLOAD_PROCESSORS"
)

// models are what the models of the namespace get from the service.
type models struct {
	contributions []client.Object
	// taken are models whose traffic goes to somebody else.
	taken []string
	// kserve and mesh report that models of the one and of the other send their traffic here.
	kserve, mesh bool
	// inMesh reports that one of them is in a service mesh.
	inMesh bool
}

// observe decides which models send their traffic to the service. A logger that somebody else has set is left alone.
func observe(s *v1.TrustyAIService, f Fetched) (m models) {
	if f.models.Value == nil {
		return m
	}
	for i := range f.models.Value.Items {
		model := &f.models.Value.Items[i]
		if model.Annotations[modeAnnotation] == modelMesh {
			m.mesh = true
			continue
		}
		url := urlFor(s, model.Annotations[modeAnnotation], f)
		if url == "" {
			continue
		}
		if logger := model.Spec.Predictor.Logger; logger != nil && logger.URL != url {
			m.taken = append(m.taken, model.Name)
			continue
		}
		m.kserve = true
		m.inMesh = m.inMesh || model.Annotations["sidecar.istio.io/inject"] == "true"
		m.contributions = append(m.contributions, &foreign.InferenceService{
			ObjectMeta: metav1.ObjectMeta{Namespace: model.Namespace, Name: model.Name},
			Spec:       foreign.InferenceServiceSpec{Predictor: foreign.Predictor{Logger: &foreign.Logger{Mode: "all", URL: url}}},
		})
	}
	if m.mesh {
		m.processors(s, f.meshes.Value.Items)
	}
	slices.Sort(m.taken)
	return m
}

// urlFor is where a model sends its traffic, empty for a mode that is unknown or switched off.
func urlFor(s *v1.TrustyAIService, mode string, f Fetched) string {
	host := hostOf(s.Name, s.Namespace)
	switch mode {
	case "RawDeployment", "Standard":
		return "https://" + host
	case "Serverless", "Knative":
		if f.config.Value != nil && f.config.Value.Data["kServeServerless"] == "enabled" {
			return "http://" + host
		}
	}
	return ""
}

// processors makes the programs of ModelMesh send their traffic here, once they have settled. One that sends it elsewhere is left alone.
func (m *models) processors(s *v1.TrustyAIService, deployments []appsv1.Deployment) {
	url := fmt.Sprintf("https://%s.%s.svc/consumer/kserve/v2", s.Name, s.Namespace)
	for i := range deployments {
		d := &deployments[i]
		if d.Status.ReadyReplicas != ptr.Deref(d.Spec.Replicas, 1) {
			continue
		}
		if sendsElsewhere(d, url) {
			m.taken = append(m.taken, "Deployment "+d.Name)
			continue
		}
		m.contributions = append(m.contributions, payloadsTo(d, url, s.Name+"-internal"))
	}
}

func sendsElsewhere(d *appsv1.Deployment, url string) bool {
	for _, c := range d.Spec.Template.Spec.Containers {
		for _, env := range c.Env {
			if env.Name == processors && strings.TrimSpace(env.Value) != url {
				return true
			}
		}
	}
	return false
}

// payloadsTo is what a Deployment of ModelMesh gets: the address, and the certificate to call it with.
func payloadsTo(d *appsv1.Deployment, url, secret string) client.Object {
	out := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name}}
	pod := &out.Spec.Template.Spec
	pod.Volumes = []corev1.Volume{{Name: secret, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret}}}}
	for _, c := range d.Spec.Template.Spec.Containers {
		part := corev1.Container{
			Name: c.Name, Env: []corev1.EnvVar{{Name: processors, Value: url}},
			VolumeMounts: []corev1.VolumeMount{{Name: secret, MountPath: "/etc/trustyai/tls", ReadOnly: true}},
		}
		if c.Name == "mm" {
			part.Env = append(part.Env, corev1.EnvVar{Name: "MM_TLS_KEY_CERT_PATH", Value: "/etc/trustyai/tls/tls.crt"})
		}
		pod.Containers = append(pod.Containers, part)
	}
	return out
}
