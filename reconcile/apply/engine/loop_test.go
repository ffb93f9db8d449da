package engine_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// workload returns a Deployment whose only container is changed by the case.
func workload(change func(*corev1.PodSpec, *corev1.Container)) client.Object {
	d := &appsv1.Deployment{ObjectMeta: meta("loop"), Spec: appsv1.DeploymentSpec{
		Selector: selector(),
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "i:1"}}},
		},
	}}
	change(&d.Spec.Template.Spec, &d.Spec.Template.Spec.Containers[0])
	return d
}

func container(change func(*corev1.Container)) func() client.Object {
	return func() client.Object {
		return workload(func(_ *corev1.PodSpec, c *corev1.Container) { change(c) })
	}
}

func raw(kind, version string, content map[string]any) func() client.Object {
	return func() client.Object {
		u := &unstructured.Unstructured{Object: runtimeCopy(content)}
		u.SetAPIVersion(version)
		u.SetKind(kind)
		u.SetName("loop")
		return u
	}
}

func runtimeCopy(m map[string]any) map[string]any {
	return (&unstructured.Unstructured{Object: m}).DeepCopy().Object
}

func rawWorkload(container map[string]any) func() client.Object {
	container["name"], container["image"] = "main", "i:1"
	return raw("Deployment", "apps/v1", map[string]any{"spec": map[string]any{
		"selector": map[string]any{"matchLabels": map[string]any{"app": "x"}},
		"template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"app": "x"}, "creationTimestamp": nil},
			"spec":     map[string]any{"containers": []any{container}},
		},
	}, "status": map[string]any{}})
}

// Each entry is a value that API servers change, or that Go serialises although
// it is not set: a known cause of endless writes.
var _ = DescribeTable("A value that causes endless writes elsewhere causes none in steady state, also after a restart", func(object func() client.Object) {
	w := newWorld()
	plan := planOf(func() []client.Object { return []client.Object{object()} })
	_, sent := w.pass(plan())
	Expect(sent).To(HaveLen(2))
	w.quiet(2, plan)
	w.synced(plan)
	w.quiet(2, plan)
	w.restart()
	w.quiet(2, plan)
},
	Entry("container ports without protocol, and two that differ only in it", container(func(c *corev1.Container) {
		c.Ports = []corev1.ContainerPort{{ContainerPort: 53, Protocol: "UDP"}, {ContainerPort: 53}, {ContainerPort: 80}}
	})),
	Entry("service ports without protocol", func() client.Object {
		return &corev1.Service{ObjectMeta: meta("loop"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	}),
	Entry("an empty environment value", container(func(c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "E"}, {Name: "F", Value: ""}} })),
	Entry("an empty environment value, unstructured", rawWorkload(map[string]any{
		"env": []any{map[string]any{"name": "E", "value": ""}},
	})),
	Entry("a fieldRef without apiVersion", container(func(c *corev1.Container) {
		c.Env = []corev1.EnvVar{{Name: "N", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}}
	})),
	Entry("quantities", container(func(c *corev1.Container) {
		c.Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1000m"), "memory": resource.MustParse("0.5Gi")}
	})),
	Entry("quantities, unstructured, as text and number", rawWorkload(map[string]any{
		"resources": map[string]any{
			"requests": map[string]any{"cpu": "1000m", "memory": "1024Mi"},
			"limits":   map[string]any{"cpu": int64(2), "memory": "2048Mi"},
		},
	})),
	Entry("int-or-string ports", container(func(c *corev1.Container) {
		c.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("http")}}}
		c.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}}
	})),
	Entry("stringData", func() client.Object {
		return &corev1.Secret{ObjectMeta: meta("loop"), StringData: map[string]string{"a": "b"}}
	}),
	Entry("stringData, unstructured, over data", raw("Secret", "v1", map[string]any{
		"data": map[string]any{"a": "eA=="}, "stringData": map[string]any{"a": "y", "b": "z"},
	})),
	Entry("volume claim templates", func() client.Object {
		return &appsv1.StatefulSet{ObjectMeta: meta("loop"), Spec: appsv1.StatefulSetSpec{
			Selector: selector(), Template: podTemplate(),
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("1024Mi")}},
			}}},
		}}
	}),
	Entry("empty structs, set pointers and empty lists", func() client.Object {
		return workload(func(s *corev1.PodSpec, c *corev1.Container) {
			s.Volumes = []corev1.Volume{{Name: "e", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
			s.SecurityContext = &corev1.PodSecurityContext{}
			s.Tolerations = []corev1.Toleration{}
			s.ImagePullSecrets = []corev1.LocalObjectReference{}
			c.Args = []string{}
		})
	}),
	Entry("an empty selector and an empty list of rules", func() client.Object {
		return &networkingv1.NetworkPolicy{ObjectMeta: meta("loop"), Spec: networkingv1.NetworkPolicySpec{
			Ingress: []networkingv1.NetworkPolicyIngressRule{{}}, Egress: []networkingv1.NetworkPolicyEgressRule{},
		}}
	}),
	Entry("an empty map of labels", raw("ConfigMap", "v1", map[string]any{"metadata": map[string]any{"annotations": map[string]any{}}})),
	Entry("nulls", raw("ConfigMap", "v1", map[string]any{"data": map[string]any{"a": "1"}, "binaryData": nil})),
)

var _ = Describe("The engine", func() {
	It("accepts apply configurations", func() {
		w := newWorld()
		plan := func() apply.Plan {
			var s apply.Plan
			s.ApplyConfiguration(appsv1ac.Deployment("loop", w.namespace).WithSpec(appsv1ac.DeploymentSpec().
				WithSelector(metav1ac.LabelSelector().WithMatchLabels(map[string]string{"app": "x"})).
				WithTemplate(corev1ac.PodTemplateSpec().WithLabels(map[string]string{"app": "x"}).WithSpec(corev1ac.PodSpec().
					WithContainers(corev1ac.Container().WithName("main").WithImage("i:1").WithPorts(corev1ac.ContainerPort().WithContainerPort(80)))))))
			return s
		}
		_, sent := w.pass(plan())
		Expect(sent).To(HaveLen(2))
		w.quiet(2, plan)
		w.syncedObject(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "loop"}})
		w.quiet(2, plan)
		w.restart()
		w.quiet(2, plan)
	})

	It("sends only fields that are set", func() {
		w := newWorld()
		plan := planOf(func() []client.Object { return []client.Object{deployment("intent")} })
		w.converge(plan)
		stored := deployment("intent")
		stored.Namespace = w.namespace
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
		for _, e := range stored.ManagedFields {
			if e.Manager == manager {
				owned := string(e.FieldsV1.GetRawBytes())
				for _, never := range []string{"f:status", "f:strategy", "f:creationTimestamp", "f:resources\":{}"} {
					Expect(owned).NotTo(ContainSubstring(never))
				}
				Expect(owned).To(ContainSubstring("f:emptyDir"))
			}
		}
	})

	It("rejects generateName in each reconciliation, and creates nothing", func() {
		w := newWorld()
		prefixed := configMap("", "1")
		prefixed.GenerateName = "web-"
		var s apply.Plan
		s.Apply(prefixed)
		s.Apply(prefixed.DeepCopy(), apply.Once)
		s.ApplyConfiguration(corev1ac.ConfigMap("", "").WithGenerateName("api-"))
		for range 3 {
			result, _ := w.pass(s)
			Expect(result.Objects).To(HaveLen(3))
			for i, prefix := range []string{"web-", "web-", "api-"} {
				Expect(result.Objects[i].Outcome).To(BeEquivalentTo(apply.OutcomeFailed))
				Expect(result.Objects[i].Err).To(MatchError(And(
					ContainSubstring(`metadata.generateName is "`+prefix+`"`), ContainSubstring("want a name that is the same in each pass"))))
			}
			Expect(w.names()).To(BeEmpty())
		}
	})

	It("rejects names that are too long for the kind, and creates nothing", func() {
		w := newWorld()
		long := strings.Repeat("a", 53)
		works := strings.Repeat("a", 52)
		var s apply.Plan
		set := func(name string) *appsv1ac.StatefulSetApplyConfiguration {
			return appsv1ac.StatefulSet(name, "").WithSpec(appsv1ac.StatefulSetSpec().WithServiceName("web").WithReplicas(0).
				WithSelector(metav1ac.LabelSelector().WithMatchLabels(map[string]string{"app": "web"})).
				WithTemplate(corev1ac.PodTemplateSpec().WithLabels(map[string]string{"app": "web"}).
					WithSpec(corev1ac.PodSpec().WithContainers(corev1ac.Container().WithName("web").WithImage("web:1")))))
		}
		s.ApplyConfiguration(set(long))
		s.ApplyConfiguration(set(works))
		s.Apply(configMap(long, "1"))
		for range 2 {
			result, _ := w.pass(s)
			Expect(result.Objects).To(HaveLen(3))
			Expect(result.Objects[0].Outcome).To(BeEquivalentTo(apply.OutcomeFailed))
			Expect(result.Objects[0].Err).To(MatchError(
				`child: metadata.name "` + long + `" has 53 characters, want at most 52, with which a StatefulSet works: derive it with naming.ForKind`))
		}
		key := client.ObjectKey{Namespace: w.namespace, Name: long}
		Expect(apierrors.IsNotFound(w.admin.Get(w.ctx, key, &appsv1.StatefulSet{}))).To(BeTrue())
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: works}, &appsv1.StatefulSet{})).To(Succeed())
		Expect(w.names()).To(ConsistOf(long))
	})

	It("contributes to an object whose name is too long for its kind", func() {
		w := newWorld()
		long := strings.Repeat("a", 53)
		labels := map[string]string{"app": "web"}
		existing := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: long, Namespace: w.namespace}}
		existing.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		existing.Spec.Template.Labels = labels
		existing.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web", Image: "web:1"}}
		Expect(w.admin.Create(w.ctx, existing)).To(Succeed())
		var s apply.Plan
		s.ApplyConfiguration(appsv1ac.StatefulSet(long, "").WithLabels(map[string]string{"team": "a"}), apply.Contribute)
		result, _ := w.pass(s)
		Expect(result.Err()).NotTo(HaveOccurred())
	})

	It("rejects objects that it cannot apply, and applies the others", func() {
		w := newWorld()
		far := configMap("far", "1")
		far.Namespace = w.namespace
		var s apply.Plan
		s.Apply(configMap("", "1"))
		s.Apply(configMap("twice", "1"))
		s.Apply(configMap("twice", "2"))
		s.Apply(configMap("good", "1"))
		s.Apply(configMap("bad", "1"), apply.Seed("metadata..x"))
		result, _ := w.pass(s)
		Expect(result.Err()).To(MatchError(And(ContainSubstring("metadata.name is empty, want"), ContainSubstring("planned twice"), ContainSubstring("metadata..x"))))
		Expect(w.names()).To(ConsistOf("twice", "good"))
	})
})
