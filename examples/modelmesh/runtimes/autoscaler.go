package runtimes

import (
	"cmp"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The annotations of a runtime that configure its scaling.
const (
	annotationClass  = "serving.kserve.io/autoscalerClass"
	annotationMetric = "serving.kserve.io/metrics"
	annotationTarget = "serving.kserve.io/targetUtilizationPercentage"
	annotationMin    = "serving.kserve.io/min-scale"
	annotationMax    = "serving.kserve.io/max-scale"
)

const defaultTarget = 80 // percent

// scaled is the configuration of an autoscaler.
type scaled struct {
	smallest, largest, target int32
	metric                    corev1.ResourceName
}

// autoscaling reads the annotations of a runtime. It returns nil for a runtime without an autoscaler. An invalid number counts as
// unset.
func autoscaling(annotations map[string]string) (*scaled, error) {
	switch class := annotations[annotationClass]; class {
	case "", "none":
		return nil, nil //nolint:nilnil // the runtime has no autoscaler
	case "hpa":
	default:
		return nil, fmt.Errorf("metadata.annotations[%s]: %q; want hpa or none", annotationClass, class)
	}
	number := func(name string, fallback int32) int32 {
		n, err := strconv.ParseInt(annotations[name], 10, 32)
		if err != nil || n < 1 {
			return fallback
		}
		return int32(n)
	}
	s := &scaled{
		smallest: number(annotationMin, 1), target: number(annotationTarget, defaultTarget),
		metric: corev1.ResourceName(cmp.Or(annotations[annotationMetric], string(corev1.ResourceCPU))),
	}
	s.largest = max(number(annotationMax, 1), s.smallest)
	return s, nil
}

func (s *scaled) object(r *Runtime, target *appsv1.Deployment) *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: target.Namespace, Name: target.Name, OwnerReferences: r.Owner, Annotations: r.Annotations,
			Labels: map[string]string{"serving.kserve.io/inferenceservice": r.Name, "component": "predictor"},
		},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: target.Name},
			MinReplicas:    &s.smallest, MaxReplicas: s.largest,
			Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
				Name: s.metric, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &s.target},
			}}},
		},
	}
}
