package aimservice_test

import (
	"fmt"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/examples/aim/aimservice"
	"github.com/reconcilekit/reconcilekit/examples/aim/api/kserve"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// edges lists the reads of FetchRemoteState in their order, except the read of the other services of the namespace,
// which happens only while a service is being deleted.
func edges() []edge {
	type service = aimv1alpha1.AIMService
	objects := func(list ...client.Object) []client.Object { return list }
	model := func(s *service) []client.Object { return objects(clusterModel(*s.Spec.Model.Name)) }
	isvc := func(s *service) []client.Object { return objects(isvcOf(s)) }
	byTemplate := func(s *service) { s.Spec.Template.Name = modelNameOf(s.Namespace, s.Name) }
	byImage := func(s *service) { s.Spec.Model = aimv1alpha1.AIMServiceModel{Image: new(imageOf(s, false))} }
	return []edge{
		{what: "the caches of its namespace", reach: namespaced, object: func(s *service) client.Object {
			return &aimv1alpha1.AIMTemplateCache{ObjectMeta: named(s.Namespace, s.Name+"-cache"), Spec: aimv1alpha1.AIMTemplateCacheSpec{
				TemplateName: "t", TemplateScope: aimv1alpha1.AIMServiceTemplateScopeNamespace,
			}}
		}, status: func(o client.Object) { o.(*aimv1alpha1.AIMTemplateCache).Status.Status = aimv1alpha1.AIMStatusReady }},
		{what: "the runtime config of its namespace", service: configured, object: func(s *service) client.Object {
			return &aimv1alpha1.AIMRuntimeConfig{ObjectMeta: named(s.Namespace, s.Spec.RuntimeConfigName)}
		}},
		{what: "the runtime config of the cluster", service: configured, object: func(s *service) client.Object {
			return &aimv1alpha1.AIMClusterRuntimeConfig{ObjectMeta: named("", s.Spec.RuntimeConfigName)}
		}},
		{what: "its InferenceService", object: func(s *service) client.Object { return isvcOf(s) }, status: func(o client.Object) {
			o.(*kserve.InferenceService).Status.Conditions = []kserve.Condition{{Type: "Ready", Status: corev1.ConditionFalse}}
		}},
		{
			what: "the pods of its InferenceService", graceful: true, given: isvc, object: func(s *service) client.Object {
				return podOf(s.Namespace, s.Name+"-pod", isvcOf(s).Name)
			}, status: func(o client.Object) { o.(*corev1.Pod).Status.Phase = corev1.PodRunning },
			leave: func(o client.Object, out bool) {
				const label = "serving.kserve.io/inferenceservice"
				labels := o.GetLabels()
				if out {
					labels["was"], labels[label] = labels[label], "another"
				} else {
					labels[label] = labels["was"]
				}
			},
		},
		{what: "the events of its InferenceService", given: isvc, object: func(s *service) client.Object {
			about := isvcOf(s)
			_ = c.Get(ctx, client.ObjectKeyFromObject(about), about) // not found if the event belongs to another spec
			return &corev1.Event{ObjectMeta: named(s.Namespace, s.Name+"-event"), InvolvedObject: corev1.ObjectReference{
				Kind: "InferenceService", Namespace: s.Namespace, Name: about.Name, UID: about.UID,
			}}
		}},
		{what: "its autoscaler", service: func(s *service) { s.Spec.MinReplicas = new(int32(1)) }, given: isvc, object: func(s *service) client.Object {
			return &autoscalingv2.HorizontalPodAutoscaler{
				ObjectMeta: named(s.Namespace, "keda-hpa-"+isvcOf(s).Name+"-predictor"),
				Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
					MaxReplicas:    2,
					ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "x"},
				},
			}
		}, status: func(o client.Object) { o.(*autoscalingv2.HorizontalPodAutoscaler).Status.DesiredReplicas = 2 }},
		{what: "its route", service: published, object: func(s *service) client.Object { return planned(s) }},
		{what: "the routes to its path", service: published, object: func(s *service) client.Object {
			route := planned(s)
			route.Name, route.OwnerReferences = s.Name+"-too", nil
			return route
		}, leave: func(o client.Object, out bool) {
			path := o.(*gatewayv1.HTTPRoute).Spec.Rules[0].Matches[0].Path
			if out {
				o.SetAnnotations(map[string]string{"was": *path.Value})
				path.Value = new("/elsewhere")
			} else {
				path.Value = new(o.GetAnnotations()["was"])
			}
		}},
		{what: "the service of a route to its path", owner: true, service: published, given: func(s *service) []client.Object {
			route := planned(s)
			route.Name = s.Name + "-rival"
			route.OwnerReferences[0].UID, route.OwnerReferences[0].Name = "1234", s.Name+"-rival"
			return objects(route)
		}, object: func(s *service) client.Object {
			rival := serviceOf(s.Namespace, s.Name+"-rival", "m")
			rival.Annotations, rival.Finalizers = s.Annotations, s.Finalizers
			return rival
		}},
		{what: "the model of its namespace by name", object: func(s *service) client.Object {
			return readyModel(s.Namespace, *s.Spec.Model.Name)
		}, status: func(o client.Object) { o.(*aimv1alpha1.AIMModel).Status.Status = aimv1alpha1.AIMStatusReady }},
		{
			what: "the model of the cluster by name", object: func(s *service) client.Object { return clusterModel(*s.Spec.Model.Name) },
			status: func(o client.Object) { o.(*aimv1alpha1.AIMClusterModel).Status.Status = aimv1alpha1.AIMStatusReady },
		},
		{what: "the model of its namespace by image", service: byImage, object: func(s *service) client.Object {
			m := readyModel(s.Namespace, s.Name+"-model")
			m.Spec.Image = imageOf(s, false)
			return m
		}, leave: func(o client.Object, out bool) { o.(*aimv1alpha1.AIMModel).Spec.Image = imageOf(o, out) }},
		{what: "the model of the cluster by image", service: byImage, object: func(s *service) client.Object {
			m := clusterModel(modelNameOf(s.Namespace, s.Name))
			m.Spec.Image = imageOf(s, false)
			return m
		}},
		{what: "the models of its namespace for a custom model", reach: namespaced, service: func(s *service) {
			s.Spec.Model = aimv1alpha1.AIMServiceModel{Custom: &aimv1alpha1.AIMServiceModelCustom{
				BaseImage: image, ModelSources: []aimv1alpha1.AIMModelSource{{ModelID: "acme/own", SourceURI: "s3://acme/own"}},
				Hardware: aimv1alpha1.AIMHardwareRequirements{GPU: &aimv1alpha1.AIMGpuRequirements{Requests: 1}},
			}}
		}, object: func(s *service) client.Object { return readyModel(s.Namespace, s.Name+"-model") }},
		{what: "the template of its namespace by name", service: byTemplate, given: model, object: func(s *service) client.Object {
			return readyTemplate(s.Namespace, s.Spec.Template.Name, "m")
		}, status: func(o client.Object) { o.(*aimv1alpha1.AIMServiceTemplate).Status.Status = aimv1alpha1.AIMStatusReady }},
		{what: "the template of the cluster by name", service: byTemplate, given: model, object: func(s *service) client.Object {
			return clusterTemplate(s.Spec.Template.Name, "m")
		}, status: func(o client.Object) {
			o.(*aimv1alpha1.AIMClusterServiceTemplate).Status.Status = aimv1alpha1.AIMStatusReady
		}},
		{what: "the templates of its namespace for its model", given: model, object: func(s *service) client.Object {
			return readyTemplate(s.Namespace, s.Name+"-template", *s.Spec.Model.Name)
		}, status: func(o client.Object) { o.(*aimv1alpha1.AIMServiceTemplate).Status.Status = aimv1alpha1.AIMStatusReady }},
		{what: "the templates of the cluster for its model", given: model, object: func(s *service) client.Object {
			return clusterTemplate(modelNameOf(s.Namespace, s.Name), *s.Spec.Model.Name)
		}, status: func(o client.Object) {
			o.(*aimv1alpha1.AIMClusterServiceTemplate).Status.Status = aimv1alpha1.AIMStatusReady
		}},
		{what: "the template created from its overrides", service: overriding, given: func(s *service) []client.Object {
			return append(model(s), readyTemplate(s.Namespace, s.Spec.Template.Name, "m"))
		}, object: func(s *service) client.Object {
			t := readyTemplate(s.Namespace, aimservice.DerivedTemplateName(s.Spec.Template.Name, s.Spec.Overrides, s.UID), "m")
			t.OwnerReferences = controlledBy(s)
			return t
		}},
		{what: "the GPU models of the nodes", reach: everybody, relabel: otherGPU, given: func(s *service) []client.Object {
			t := readyTemplate(s.Namespace, s.Name+"-template", *s.Spec.Model.Name)
			t.Spec.Hardware = &aimv1alpha1.AIMHardwareRequirements{GPU: &aimv1alpha1.AIMGpuRequirements{Model: "MI300X", Requests: 1}}
			return append(model(s), t)
		}, object: func(s *service) client.Object {
			node := &corev1.Node{ObjectMeta: named("", modelNameOf(s.Namespace, s.Name))}
			otherGPU(node)
			return node
		}},
	}
}

// gpus counts the GPU models that were given to nodes.
var gpus atomic.Int64

// otherGPU gives a node a GPU model that no other node has.
func otherGPU(node client.Object) {
	node.SetLabels(map[string]string{"amd.com/gpu.family": fmt.Sprintf("MI%d", 5000+gpus.Add(1))})
}

func configured(s *aimv1alpha1.AIMService) {
	s.Spec.RuntimeConfigName = modelNameOf(s.Namespace, s.Name)
}

func published(s *aimv1alpha1.AIMService) { routedTo(s, "/"+s.Namespace+"/"+s.Name) }

func overriding(s *aimv1alpha1.AIMService) {
	s.Spec.Template.Name = s.Name + "-base"
	s.Spec.Overrides = &aimv1alpha1.AIMServiceOverrides{AIMRuntimeParameters: aimv1alpha1.AIMRuntimeParameters{
		Precision: new(aimv1alpha1.AIMPrecision("fp16")),
	}}
}

// imageOf returns the image of the model of a service, or a different one.
func imageOf(o client.Object, another bool) string {
	name := o.GetNamespace() + "/" + o.GetName()
	if _, ours := o.(*aimv1alpha1.AIMService); ours {
		name += "-model"
	}
	if another {
		name += "-other"
	}
	return "ghcr.io/acme/" + name + ":1.0"
}

// controlledBy returns the owner reference of the children of a service, so that a change of a child is also a change of
// an object that the service reads. It returns nil for a service that does not exist.
func controlledBy(s *aimv1alpha1.AIMService) []metav1.OwnerReference {
	if s.UID == "" {
		return nil
	}
	return []metav1.OwnerReference{*metav1.NewControllerRef(s, aimv1alpha1.GroupVersion.WithKind("AIMService"))}
}

// isvcOf returns the InferenceService of a service.
func isvcOf(s *aimv1alpha1.AIMService) *kserve.InferenceService {
	GinkgoHelper()
	name, err := aimservice.GenerateInferenceServiceName(s.Name, s.Namespace)
	Expect(err).NotTo(HaveOccurred())
	isvc := &kserve.InferenceService{ObjectMeta: named(s.Namespace, name)}
	isvc.OwnerReferences = controlledBy(s)
	return isvc
}

// planned returns the planned route of a service.
func planned(s *aimv1alpha1.AIMService) *gatewayv1.HTTPRoute {
	GinkgoHelper()
	route, err := aimservice.PlanRoute(s, nil)
	Expect(err).NotTo(HaveOccurred())
	route.OwnerReferences = controlledBy(s)
	return route
}
