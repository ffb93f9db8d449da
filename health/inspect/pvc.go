package inspect

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

// persistentVolumeClaim inspects a claim: bound is ready, a lost volume and failed provisioning are Infrastructure. A nil one is
// missing downstream.
// See https://kubernetes.io/docs/concepts/storage/persistent-volumes/#phase.
func persistentVolumeClaim(p *corev1.PersistentVolumeClaim) health.Component {
	if p == nil {
		return missing("PvcNotFound", "PVC")
	}
	switch p.Status.Phase {
	case corev1.ClaimBound:
		return ready("PvcBound", "PVC is bound")
	case corev1.ClaimLost:
		return broken(health.Infrastructure, "PvcLost", "PVC lost its underlying volume")
	case corev1.ClaimPending:
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PersistentVolumeClaimResizing && c.Status == corev1.ConditionFalse &&
			c.Reason == "ProvisioningFailed" {
			return broken(health.Infrastructure, "PvcProvisioningFailed", "PVC provisioning failed: "+c.Message)
		}
	}
	return progressing("PvcPending", "PVC is pending")
}
