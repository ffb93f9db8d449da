package runtimes

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/settings"
)

// dataplane configures, by method, the field of a request with the name of the model.
const dataplane = `{
  "rpcConfigs": {
    "inference.GRPCInferenceService/ModelInfer": {"idExtractionPath": [1], "vModelId": true},
    "inference.GRPCInferenceService/ModelMetadata": {"idExtractionPath": [1], "vModelId": true},
    "tensorflow.serving.PredictionService/Predict": {"idExtractionPath": [1, 1], "vModelId": true},
    "org.pytorch.serve.grpc.inference.InferenceAPIsService/Predictions": {"idExtractionPath": [1], "vModelId": true}
  },
  "allowOtherRpcs": true
}`

// ConfigMap returns the ConfigMap that all pods of a namespace mount: the constraints of models, and the parsing of requests.
func ConfigMap(namespace string, runtimes []Runtime, proxy bool) (*corev1.ConfigMap, error) {
	types, err := constraints(runtimes, proxy)
	if err != nil {
		return nil, fmt.Errorf("constraints of namespace %s: %w", namespace, err)
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: volumeTypes, Labels: settings.Labels()},
		BinaryData: map[string][]byte{"type_constraints": types, "dataplane_api_config": []byte(dataplane)},
	}, nil
}
