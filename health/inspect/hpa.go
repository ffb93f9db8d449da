package inspect

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/health"
)

// horizontalPodAutoscaler inspects an autoscaler. It is ready if it can compute and set a scale. Failing metrics are Degraded while
// replicas run, because the workload still serves; without replicas they are Progressing. A target that a user scaled to zero disables
// scaling, which is ready. Nil is a missing downstream dependency. See
// https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale-walkthrough/#appendix-horizontal-pod-autoscaler-status-conditions.
func horizontalPodAutoscaler(h *autoscalingv2.HorizontalPodAutoscaler) health.Component {
	if h == nil {
		return missing("HPANotFound", "HorizontalPodAutoscaler")
	}
	if c, done := prelude("HorizontalPodAutoscaler", &h.ObjectMeta, or(h.Status.ObservedGeneration, h.Generation)); done {
		return c
	}
	active, able := scaling(h)
	switch {
	case able != nil && able.Status != corev1.ConditionTrue:
		return progressing("ScaleTargetNotReady", able.Message)
	case active == nil:
		return progressing("WaitingForMetrics", "Autoscaler has not computed a scale yet")
	case active.Reason == "ScalingDisabled":
		return ready("ScalingDisabled", active.Message)
	case active.Status == corev1.ConditionTrue:
		return ready("HPAOperational", "Autoscaler is operational")
	case active.Status == corev1.ConditionFalse && h.Status.CurrentReplicas > 0:
		return health.Component{State: health.Degraded, Reason: "MetricsFailed", Message: active.Message}
	}
	return progressing("WaitingForMetrics", active.Message)
}

// scaling returns the autoscaler's conditions about computing a scale and about setting it.
func scaling(h *autoscalingv2.HorizontalPodAutoscaler) (active, able *autoscalingv2.HorizontalPodAutoscalerCondition) {
	for i := range h.Status.Conditions {
		switch c := &h.Status.Conditions[i]; c.Type {
		case autoscalingv2.ScalingActive:
			active = c
		case autoscalingv2.AbleToScale:
			able = c
		default: // such as ScalingLimited: at its bounds, not a failure
		}
	}
	return active, able
}
