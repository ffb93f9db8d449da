package aimservice_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// clusterModel and clusterTemplate return cluster-scoped objects; each test uses its own names.
func clusterModel(name string) *aimv1alpha1.AIMClusterModel {
	m := readyModel("", name)
	return &aimv1alpha1.AIMClusterModel{ObjectMeta: m.ObjectMeta, Spec: m.Spec, Status: m.Status}
}

func clusterTemplate(name, model string) *aimv1alpha1.AIMClusterServiceTemplate {
	t := readyTemplate("", name, model)
	return &aimv1alpha1.AIMClusterServiceTemplate{
		ObjectMeta: t.ObjectMeta, Status: t.Status,
		Spec: aimv1alpha1.AIMClusterServiceTemplateSpec{AIMServiceTemplateSpecCommon: t.Spec.AIMServiceTemplateSpecCommon},
	}
}

// noInferenceService checks that the namespace has no InferenceService, and that none is created.
func noInferenceService(namespace string) {
	GinkgoHelper()
	Consistently(func(g Gomega) {
		list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{
			APIVersion: "serving.kserve.io/v1beta1", Kind: "InferenceServiceList",
		}}
		g.Expect(c.List(ctx, list, client.InNamespace(namespace))).To(Succeed())
		g.Expect(list.Items).To(BeEmpty())
	}, "300ms").Should(Succeed())
}

var _ = Describe("Frozen dependencies", func() {
	DescribeTable("a model that is not ready",
		func(status aimv1alpha1.AIMStatus, wantState, wantCondition string) {
			for _, cluster := range []bool{false, true} {
				ns := namespace()
				service, template := serviceOf(ns, "s", "m"), readyTemplate(ns, "t", "m")
				var model, wellModel client.Object
				if cluster {
					m := clusterModel(ns)
					service.Spec.Model.Name, template.Spec.ModelName = &m.Name, m.Name
					wellModel = m.DeepCopy()
					m.Status.Status = status
					model = m
				} else {
					m := readyModel(ns, "m")
					wellModel = m.DeepCopy()
					m.Status.Status = status
					model = m
				}
				create(model, template, service)
				Eventually(condition(service, "ModelReady")).Should(HavePrefix(wantCondition))
				Eventually(state(service)).Should(Equal(wantState))
				Eventually(condition(service, "Ready")).Should(HavePrefix("False"))
				Expect(service.Status.ResolvedModel).To(BeNil())
				noInferenceService(ns)

				setStatus(wellModel) // the service continues once the cause is removed
				inferenceServiceOf(service)
				Eventually(condition(service, "ModelReady")).Should(HavePrefix("True ModelResolved"))
			}
		},
		Entry("pending", aimv1alpha1.AIMStatusPending, "Pending", "False ModelNotReady: Model "),
		Entry("progressing", aimv1alpha1.AIMStatusProgressing, "Pending", "False ModelNotReady: Model "),
		Entry("failed", aimv1alpha1.AIMStatusFailed, "Failed", "False ModelNotReady: Model "),
		Entry("degraded", aimv1alpha1.AIMStatusDegraded, "Failed", "False ModelNotReady: Model "),
		Entry("not available", aimv1alpha1.AIMStatusNotAvailable, "Pending", "False ModelNotReady: Model "),
	)

	DescribeTable("a named template that is not ready",
		func(status aimv1alpha1.AIMStatus, wantState, wantCondition string) {
			for _, cluster := range []bool{false, true} {
				ns := namespace()
				service := serviceOf(ns, "s", "m")
				service.Spec.Template.Name = "t"
				var template, wellTemplate client.Object
				if cluster {
					t := clusterTemplate(ns, ns)
					service.Spec.Template.Name, service.Spec.Model.Name = t.Name, &t.Name
					wellTemplate = t.DeepCopy()
					t.Status.Status = status
					template = t
				} else {
					t := readyTemplate(ns, "t", "m")
					wellTemplate = t.DeepCopy()
					t.Status.Status = status
					template = t
				}
				create(readyModel(ns, *service.Spec.Model.Name), template, service)
				Eventually(condition(service, "TemplateReady")).Should(HavePrefix(wantCondition))
				Eventually(state(service)).Should(Equal(wantState))
				Expect(service.Status.ResolvedTemplate).To(BeNil())
				noInferenceService(ns)

				setStatus(wellTemplate)
				inferenceServiceOf(service)
				Eventually(func(g Gomega) {
					g.Expect(c.Get(ctx, client.ObjectKeyFromObject(service), service)).To(Succeed())
					g.Expect(service.Status.ResolvedTemplate).To(HaveField("Name", template.GetName()))
				}).Should(Succeed())
				scope := aimv1alpha1.AIMResolutionScopeNamespace
				if cluster {
					scope = aimv1alpha1.AIMResolutionScopeCluster
				}
				Expect(service.Status.ResolvedTemplate.Scope).To(Equal(scope))
			}
		},
		Entry("pending", aimv1alpha1.AIMStatusPending, "Pending", "False TemplateNotReady: Template "),
		Entry("progressing", aimv1alpha1.AIMStatusProgressing, "Pending", "False TemplateNotReady: Template "),
		Entry("failed", aimv1alpha1.AIMStatusFailed, "Failed", "False TemplateNotReady: Template "),
		Entry("degraded", aimv1alpha1.AIMStatusDegraded, "Failed", "False TemplateNotReady: Template "),
		Entry("not available", aimv1alpha1.AIMStatusNotAvailable, "Degraded", "False TemplateNotReady: Template "),
	)

	It("reports a missing model, and continues when it is created", func() {
		ns := namespace()
		service := serviceOf(ns, "s", "m")
		create(readyTemplate(ns, "t", "m"), service)
		Eventually(condition(service, "ModelReady")).Should(Equal(`False ModelNotFound: model "m" not found in namespace ` + ns + ` or cluster scope`))
		Eventually(condition(service, "ConfigValid")).Should(HavePrefix("False"))
		Eventually(state(service)).Should(Equal("Failed"))
		create(readyModel(ns, "m"))
		served(service)
		Eventually(condition(service, "ConfigValid")).ShouldNot(HavePrefix("False"))
	})

	It("reports a missing template, and continues when it is created", func() {
		ns := namespace()
		service := serviceOf(ns, "s", "m")
		service.Spec.Template.Name = "wrong"
		create(readyModel(ns, "m"), readyTemplate(ns, "t", "m"), service)
		Eventually(condition(service, "TemplateReady")).Should(Equal(`False TemplateNotFound: template "wrong" not found in namespace ` + ns + ` or cluster scope`))
		Eventually(state(service)).Should(Equal("Failed"))
		noInferenceService(ns)
		create(readyTemplate(ns, "wrong", "m"))
		served(service)
	})

	It("reports that no candidate is ready", func() {
		ns := namespace()
		template := readyTemplate(ns, "t", "m")
		template.Status.Status = aimv1alpha1.AIMStatusPending
		service := serviceOf(ns, "s", "m")
		create(readyModel(ns, "m"), template, service)
		Eventually(condition(service, "TemplateReady")).Should(And(
			HavePrefix("False TemplateNotReady"), ContainSubstring("TemplatePending ("+ns+"/t)"),
		))
		Eventually(state(service)).Should(Equal("Pending"))
		setStatus(readyTemplate(ns, "t", "m"))
		served(service)
	})

	It("reports that a model has no template", func() {
		ns := namespace()
		service := serviceOf(ns, "s", "m")
		create(readyModel(ns, "m"), service)
		Eventually(condition(service, "TemplateReady")).Should(HavePrefix(`False TemplateNotFound: No templates found for model "m"`))
		Eventually(state(service)).Should(Equal("Pending"))
		create(readyTemplate(ns, "t", "m"))
		served(service)
	})

	It("lists the candidates of an ambiguous selection, and selects when one remains", func() {
		ns := namespace()
		service := serviceOf(ns, "s", "m")
		create(readyModel(ns, "m"), readyTemplate(ns, "t1", "m"), readyTemplate(ns, "t2", "m"), service)
		Eventually(condition(service, "TemplateReady")).Should(And(
			HavePrefix(`False TemplateSelectionAmbiguous: Multiple templates (2) satisfy model "m"`), ContainSubstring(ns+"/t1"), ContainSubstring(ns+"/t2")))
		Eventually(state(service)).Should(Equal("Pending"))
		noInferenceService(ns)
		Expect(c.Delete(ctx, readyTemplate(ns, "t2", "m"))).To(Succeed())
		served(service)
		Expect(service.Status.ResolvedTemplate.Name).To(Equal("t1"))
	})

	It("reports why candidates were rejected, and how to allow one", func() {
		ns := namespace()
		preview := readyTemplate(ns, "preview", "m")
		preview.Status.Profile.Metadata.Type = aimv1alpha1.AIMProfileTypePreview
		service := serviceOf(ns, "s", "m")
		create(readyModel(ns, "m"), preview, service)
		Eventually(condition(service, "TemplateReady")).Should(And(
			ContainSubstring("1 unoptimized template(s) filtered out. Set allowUnoptimized to use them"), ContainSubstring("UnoptimizedTemplateFiltered")))
	})

	It("selects a template when a node with its GPU is added", func() {
		ns := namespace()
		template := readyTemplate(ns, "t", "m")
		template.Spec.Hardware = &aimv1alpha1.AIMHardwareRequirements{GPU: &aimv1alpha1.AIMGpuRequirements{Model: "MI355X", Requests: 2}}
		template.Status.ResolvedHardware = template.Spec.Hardware
		service := serviceOf(ns, "s", "m")
		create(readyModel(ns, "m"), template, service)
		Eventually(condition(service, "TemplateReady")).Should(ContainSubstring("RequiredGPUNotInCluster (" + ns + "/t)"))
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: ns, Labels: map[string]string{"amd.com/gpu.device-id": "0x75A3"}}}
		Expect(c.Create(ctx, node)).To(Succeed())
		DeferCleanup(func() { Expect(c.Delete(ctx, node)).To(Succeed()) })
		isvc := served(service)
		limits := isvc.Spec.Predictor.Containers[0].Resources.Limits
		Expect(limits.Name("amd.com/gpu", "").Value()).To(BeEquivalentTo(2))
	})

	It("prefers the model and the template of the namespace", func() {
		ns := namespace()
		service := serviceOf(ns, "s", ns)
		create(clusterModel(ns), readyModel(ns, ns), clusterTemplate(ns, ns), readyTemplate(ns, "t", ns), service)
		served(service)
		Expect(service.Status.ResolvedModel).To(HaveField("Scope", aimv1alpha1.AIMResolutionScopeNamespace))
		Expect(service.Status.ResolvedTemplate).To(HaveField("Name", "t"))
	})

	It("lists the models with the requested image", func() {
		ns := namespace()
		one, two := readyModel(ns, "one"), readyModel(ns, "two")
		two.Spec.Image = one.Spec.Image
		service := serviceOf(ns, "s", "")
		service.Spec.Model = aimv1alpha1.AIMServiceModel{Image: new(" " + one.Spec.Image + " ")}
		create(one, two, readyTemplate(ns, "t", "one"), service)
		Eventually(condition(service, "ModelReady")).Should(And(
			HavePrefix("False MultipleModelsFound"), ContainSubstring(ns+"/one"), ContainSubstring(ns+"/two"),
		))
		Eventually(state(service)).Should(Equal("Failed"))
		Expect(c.Delete(ctx, two)).To(Succeed())
		served(service)
		Expect(service.Status.ResolvedModel.Name).To(Equal("one"))
	})

	It("requires the named runtime config", func() {
		ns := namespace()
		service := serviceOf(ns, "s", "m")
		service.Spec.RuntimeConfigName = "special"
		create(readyModel(ns, "m"), readyTemplate(ns, "t", "m"), service)
		Eventually(condition(service, "RuntimeConfigReady")).Should(Equal("False ConfigNotFound: RuntimeConfig special not found"))
		create(&aimv1alpha1.AIMRuntimeConfig{ObjectMeta: named(ns, "special"), Spec: aimv1alpha1.AIMRuntimeConfigCommon{
			Env: []corev1.EnvVar{{Name: "A", Value: "b"}},
		}})
		isvc := served(service)
		Expect(isvc.Spec.Predictor.Containers[0].Env).To(ContainElement(corev1.EnvVar{Name: "A", Value: "b"}))
		Expect(service.Status.ResolvedRuntimeConfig).To(HaveField("Name", "special"))
	})
})
