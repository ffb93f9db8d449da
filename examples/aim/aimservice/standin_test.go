package aimservice_test

import (
	"context"
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/aim/api/kserve"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// discovery stands in for the model controller: each model created for a service gets a template of the same name.
func discovery(ctx context.Context, c client.Client) error {
	models, templates := &aimv1alpha1.AIMModelList{}, &aimv1alpha1.AIMServiceTemplateList{}
	if err := c.List(ctx, models); err != nil {
		return err
	}
	if err := c.List(ctx, templates); err != nil {
		return err
	}
	has := map[client.ObjectKey]bool{}
	for _, t := range templates.Items {
		has[client.ObjectKey{Namespace: t.Namespace, Name: t.Spec.ModelName}] = true
	}
	for i := range models.Items {
		m := &models.Items[i]
		if has[client.ObjectKeyFromObject(m)] {
			continue
		}
		t := &aimv1alpha1.AIMServiceTemplate{ObjectMeta: named(m.Namespace, m.Name)}
		t.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(m, aimv1alpha1.GroupVersion.WithKind("AIMModel"))}
		t.Spec.ModelName, t.Spec.ModelSources = m.Name, m.Spec.ModelSources
		if m.Spec.Custom != nil {
			t.Spec.Hardware = m.Spec.Custom.Hardware
		}
		if err := c.Create(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// artifacts stands in for the cache controller: the weights of each template are on a volume.
func artifacts(ctx context.Context, c client.Client) error {
	caches := &aimv1alpha1.AIMTemplateCacheList{}
	if err := c.List(ctx, caches); err != nil {
		return err
	}
	for i := range caches.Items {
		cache := &caches.Items[i]
		if len(cache.Status.Artifacts) > 0 {
			continue
		}
		cache.Status.Artifacts = map[string]aimv1alpha1.AIMResolvedArtifact{"acme/m": {
			UID: "1", Name: "weights", Model: "acme/m", Status: aimv1alpha1.AIMStatusReady, PersistentVolumeClaim: "weights",
		}}
		cache.Status.Status = aimv1alpha1.AIMStatusReady
		if err := c.Status().Update(ctx, cache); err != nil {
			return err
		}
	}
	return nil
}

// keda stands in for KEDA: each InferenceService of its class gets a working autoscaler; no other has one.
func keda(ctx context.Context, c client.Client) error {
	isvcs, scalers := &kserve.InferenceServiceList{}, &autoscalingv2.HorizontalPodAutoscalerList{}
	if err := c.List(ctx, isvcs); err != nil {
		return err
	}
	if err := c.List(ctx, scalers); err != nil {
		return err
	}
	wanted := map[string]*kserve.InferenceService{}
	for i := range isvcs.Items {
		if isvc := &isvcs.Items[i]; isvc.Annotations["serving.kserve.io/autoscalerClass"] == "keda" {
			wanted[fmt.Sprintf("keda-hpa-%s-predictor", isvc.Name)] = isvc
		}
	}
	for i := range scalers.Items {
		hpa := &scalers.Items[i]
		if isvc := wanted[hpa.Name]; isvc != nil && metav1.IsControlledBy(hpa, isvc) {
			delete(wanted, hpa.Name)
		} else if err := client.IgnoreNotFound(c.Delete(ctx, hpa)); err != nil {
			return err
		}
	}
	for name, isvc := range wanted {
		hpa := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: named(isvc.Namespace, name)}
		hpa.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(isvc, kserve.GroupVersion.WithKind("InferenceService"))}
		hpa.Spec.MinReplicas, hpa.Spec.MaxReplicas = isvc.Spec.Predictor.MinReplicas, isvc.Spec.Predictor.MaxReplicas
		hpa.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{
			APIVersion: "apps/v1", Kind: "Deployment", Name: strings.TrimPrefix(name, "keda-hpa-"),
		}
		if err := c.Create(ctx, hpa); err != nil {
			return err
		}
		hpa.Status = autoscalingv2.HorizontalPodAutoscalerStatus{
			CurrentReplicas: 1, DesiredReplicas: 1,
			Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{
				{Type: autoscalingv2.ScalingActive, Status: corev1.ConditionTrue, Reason: "ValidMetricFound"},
			},
		}
		if err := c.Status().Update(ctx, hpa); err != nil {
			return err
		}
	}
	return nil
}
