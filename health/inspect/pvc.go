package inspect

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

// persistentVolumeClaim inspects a claim: bound is ready; a lost volume and failed provisioning are Infrastructure. A bound claim that is
// being resized, or whose class changes, is ready only when the volume matches. An impossible change is InvalidSpec, and Degraded because
// the volume still serves with its former size or class. Nil is a missing downstream dependency. See
// https://kubernetes.io/docs/concepts/storage/persistent-volumes/#phase and #expanding-persistent-volumes-claims there.
func persistentVolumeClaim(p *corev1.PersistentVolumeClaim) health.Component {
	switch {
	case p == nil:
		return missing("PvcNotFound", "PVC")
	case p.DeletionTimestamp != nil:
		return terminating("PVC")
	}
	switch p.Status.Phase {
	case corev1.ClaimBound:
		return boundClaim(p)
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

func boundClaim(p *corev1.PersistentVolumeClaim) health.Component {
	want := p.Spec.Resources.Requests[corev1.ResourceStorage]
	// A bound claim always has a capacity. Without one its size is unknown.
	if have, known := p.Status.Capacity[corev1.ResourceStorage]; known && have.Cmp(want) < 0 {
		return growingClaim(p, have.String()+" of "+want.String())
	}
	class := or(p.Spec.VolumeAttributesClassName, "")
	if class != "" && class != or(p.Status.CurrentVolumeAttributesClassName, "") {
		return modifiedClaim(p, class)
	}
	return ready("PvcBound", "PVC is bound")
}

// growingClaim inspects a claim whose volume is smaller than requested.
func growingClaim(p *corev1.PersistentVolumeClaim, size string) health.Component {
	failed := firstTrue(p, corev1.PersistentVolumeClaimControllerResizeError, corev1.PersistentVolumeClaimNodeResizeError)
	switch p.Status.AllocatedResourceStatuses[corev1.ResourceStorage] {
	case corev1.PersistentVolumeClaimControllerResizeInfeasible, corev1.PersistentVolumeClaimNodeResizeInfeasible,
		"ControllerResizeFailed", "NodeResizeFailed": // their names before Kubernetes 1.31
		return refusedClaim("PvcResizeInfeasible", "PVC cannot grow, it has "+size, failed)
	case corev1.PersistentVolumeClaimControllerResizeInProgress, corev1.PersistentVolumeClaimNodeResizePending,
		corev1.PersistentVolumeClaimNodeResizeInProgress:
	}
	if failed != nil {
		return broken(health.Infrastructure, "PvcResizeFailed", "PVC has "+size+", resizing failed: "+failed.Message)
	}
	if c := firstTrue(p, corev1.PersistentVolumeClaimFileSystemResizePending); c != nil {
		return progressing("PvcFileSystemResizePending", "PVC has "+size+", its file system grows when a pod mounts it")
	}
	return progressing("PvcResizing", "PVC has "+size)
}

// modifiedClaim inspects a claim whose volume does not have the requested class of attributes.
func modifiedClaim(p *corev1.PersistentVolumeClaim, class string) health.Component {
	failed := firstTrue(p, corev1.PersistentVolumeClaimVolumeModifyVolumeError)
	s := p.Status.ModifyVolumeStatus
	switch {
	case s != nil && s.TargetVolumeAttributesClassName == class && s.Status == corev1.PersistentVolumeClaimModifyVolumeInfeasible:
		return refusedClaim("PvcModifyInfeasible", "PVC cannot get the volume attributes class "+class, failed)
	case s != nil && s.TargetVolumeAttributesClassName == class && s.Status == corev1.PersistentVolumeClaimModifyVolumePending:
		return health.Component{State: health.Pending, Reason: "PvcModifyPending", Message: "PVC waits for the volume attributes class " + class}
	case failed != nil:
		return broken(health.Infrastructure, "PvcModifyFailed", "PVC does not have the volume attributes class "+class+" yet: "+failed.Message)
	}
	return progressing("PvcModifying", "PVC does not have the volume attributes class "+class+" yet")
}

// refusedClaim reports a claim with a request that its storage cannot satisfy. The volume still serves.
func refusedClaim(reason, message string, failed *corev1.PersistentVolumeClaimCondition) health.Component {
	if failed != nil {
		message += ": " + failed.Message
	}
	c := broken(health.InvalidSpec, reason, message)
	c.State = health.Degraded
	return c
}

// firstTrue returns the first of the conditions of these types that is true.
func firstTrue(p *corev1.PersistentVolumeClaim, types ...corev1.PersistentVolumeClaimConditionType) *corev1.PersistentVolumeClaimCondition {
	for _, t := range types {
		for i := range p.Status.Conditions {
			if c := &p.Status.Conditions[i]; c.Type == t && c.Status == corev1.ConditionTrue {
				return c
			}
		}
	}
	return nil
}
