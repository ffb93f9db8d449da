package v1beta1

// The conditions that the operator sets.
const (
	Ready          = "Ready"
	PredictorReady = "PredictorReady"
)

// deploymentMode is the annotation that selects whether KServe or ModelMesh serves the model.
const deploymentMode = "serving.kserve.io/deploymentMode"

// ModelMesh reports whether ModelMesh serves the model.
func (s *InferenceService) ModelMesh() bool { return s.Annotations[deploymentMode] == "ModelMesh" }
