// Package images resolves the images of the programs that the operator runs.
package images

import (
	"fmt"
	"os"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	corev1 "k8s.io/api/core/v1"
)

// ConfigMap is the name of the ConfigMap of the operator, in its namespace.
const ConfigMap = "trustyai-service-operator-config"

// The keys of images.
const (
	Service      = "trustyaiServiceImage"
	Proxy        = "kube-rbac-proxy"
	Orchestrator = "guardrails-orchestrator-image"
	Detectors    = "guardrails-built-in-detector-image"
	Gateway      = "guardrails-sidecar-gateway-image"
	Nemo         = "nemo-guardrails-image"
	Evaluation   = "lmes-pod-image"
	Driver       = "lmes-driver-image"
	EvalHub      = "evalHubImage"
)

// variables take precedence over the ConfigMap.
var variables = map[string]string{
	Service: "TRUSTYAI_SERVICE_PY", Proxy: "KUBE_RBAC_PROXY", Orchestrator: "FMS_GUARDRAILS_ORCHESTRATOR",
	Detectors: "BUILT_IN_DETECTOR", Gateway: "TRUSTYAI_VLLM_ORCHESTRATOR_GATEWAY", Nemo: "TRUSTYAI_NEMO_GUARDRAILS_SERVER",
	Evaluation: "TA_LMES_JOB", Driver: "TA_LMES_DRIVER",
	EvalHub: "EVAL_HUB",
}

// Resolve returns the images of the keys, from the environment or the ConfigMap. It returns an error with the first key that neither
// has.
func Resolve(config reconcile.FetchResult[*corev1.ConfigMap], keys ...string) (map[string]string, error) {
	found := map[string]string{}
	for _, key := range keys {
		variable := "RELATED_IMAGE_ODH_" + variables[key] + "_IMAGE"
		found[key] = os.Getenv(variable)
		if found[key] == "" && config.Value != nil {
			found[key] = config.Value.Data[key]
		}
		if found[key] == "" {
			message := fmt.Sprintf("no image: set key %q of ConfigMap %s or the environment variable %s", key, ConfigMap, variable)
			return nil, health.NewError(health.MissingUpstreamDependency, "ImageMissing", message, nil)
		}
	}
	return found, nil
}
