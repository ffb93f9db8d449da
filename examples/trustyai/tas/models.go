package tas

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
)

// The deployment modes of a model, from its annotation. Models with other modes stay unchanged.
const (
	modeAnnotation = "serving.kserve.io/deploymentMode"
	modelMesh      = "ModelMesh"
)

// models are the contributions of the service to the models of the namespace.
type models struct {
	contributions []client.Object
	// edits are the keys of the edits of ModelMesh programs.
	edits []string
	// taken are models whose traffic goes to another logger.
	taken []string
	// kserve and mesh report whether models of KServe and of ModelMesh send their traffic to the service.
	kserve, mesh bool
	// inMesh reports whether one of them is in a service mesh.
	inMesh bool
}

// observe decides which models send their traffic to the service. It does not change the logger of another user or controller.
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
		m.payloads(s, f)
	}
	slices.Sort(m.taken)
	return m
}

// urlFor returns the URL to which a model sends its traffic, or the empty string if its mode is unknown or switched off.
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
