package tas

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
)

// How a model is deployed, by its annotation. Others are left alone.
const (
	modeAnnotation = "serving.kserve.io/deploymentMode"
	modelMesh      = "ModelMesh"
)

// models are what the models of the namespace get from the service.
type models struct {
	contributions []client.Object
	// edits are those of programs of ModelMesh, by their keys.
	edits []string
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
		m.payloads(s, f)
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
