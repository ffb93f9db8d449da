package intent

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The ranks in which kinds are applied: dependencies come first. Deletes use the reverse order.
const (
	rankNamespace = iota
	rankDefinition
	rankIdentity
	rankConfig
	rankStorage
	rankService
	rankOther
	rankWorkload
	rankScaling
	rankRoute
	rankWebhook
)

// Rank returns the rank of a kind. Unknown kinds come before workloads, because most custom resources configure a workload.
func Rank(gk schema.GroupKind) int {
	switch gk.Group {
	case "":
		return coreRank(gk.Kind)
	case "apiextensions.k8s.io", "apiregistration.k8s.io":
		return rankDefinition
	case "rbac.authorization.k8s.io", "scheduling.k8s.io":
		return rankIdentity
	case "storage.k8s.io":
		return rankStorage
	case "apps", "batch":
		return rankWorkload
	case "autoscaling", "policy":
		return rankScaling
	case "networking.k8s.io":
		if gk.Kind == "NetworkPolicy" {
			return rankConfig
		}
		return rankRoute
	case "gateway.networking.k8s.io":
		return rankRoute
	case "admissionregistration.k8s.io":
		return rankWebhook
	}
	return rankOther
}

func coreRank(kind string) int {
	switch kind {
	case "Namespace":
		return rankNamespace
	case "ServiceAccount":
		return rankIdentity
	case "ConfigMap", "Secret", "LimitRange", "ResourceQuota":
		return rankConfig
	case "PersistentVolume", "PersistentVolumeClaim":
		return rankStorage
	case "Service", "Endpoints":
		return rankService
	case "Pod", "ReplicationController":
		return rankWorkload
	}
	return rankOther
}
