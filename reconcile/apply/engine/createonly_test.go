package engine_test

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
)

// immutables are objects with an immutable spec, each with two plans that differ in the spec and in a label.
func immutables() map[string]func(version string) client.Object {
	labels := func(o client.Object, version string) client.Object {
		o.SetLabels(map[string]string{"example.com/version": version})
		o.SetAnnotations(map[string]string{"only-in-" + version: "x"})
		return o
	}
	pod := func(version string) corev1.PodSpec {
		return corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{
				Name: "main", Image: "image:" + version, Env: []corev1.EnvVar{{Name: "VERSION", Value: version}},
				VolumeMounts: []corev1.VolumeMount{{Name: "scratch", MountPath: "/scratch"}},
			}},
			Tolerations: []corev1.Toleration{{Key: version, Operator: corev1.TolerationOpExists}},
			Volumes:     []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		}
	}
	size := map[string]string{"1": "1Gi", "2": "2Gi", "3": "3Gi"}
	return map[string]func(version string) client.Object{
		"Pod": func(version string) client.Object {
			return labels(&corev1.Pod{ObjectMeta: meta("once"), Spec: pod(version)}, version)
		},
		"Job": func(version string) client.Object {
			return labels(&batchv1.Job{ObjectMeta: meta("once"), Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: pod(version)}}}, version)
		},
		"PersistentVolumeClaim": func(version string) client.Object {
			return labels(&corev1.PersistentVolumeClaim{ObjectMeta: meta("once"), Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size[version])},
				},
			}}, version)
		},
	}
}

// withoutSpec is a cache transform that removes the spec.
func withoutSpec(managedFields bool) func(any) (any, error) {
	return func(in any) (any, error) {
		switch o := in.(type) {
		case *corev1.Pod:
			o.Spec = corev1.PodSpec{}
		case *batchv1.Job:
			o.Spec = batchv1.JobSpec{}
		case *corev1.PersistentVolumeClaim:
			o.Spec = corev1.PersistentVolumeClaimSpec{}
		}
		if o, ok := in.(client.Object); ok && !managedFields {
			o.SetManagedFields(nil)
		}
		return in, nil
	}
}

var _ = Describe("A create-only field", func() {
	caches := map[string]func(any) (any, error){
		"whole": nil, "shortened": apply.ShortenManagedFields(manager),
		"without spec": withoutSpec(true), "without spec and managedFields": withoutSpec(false),
	}
	for kind, object := range immutables() {
		for cached, transform := range caches {
			It(fmt.Sprintf("keeps its value while the metadata follows the plan: %s in a cache %s", kind, cached), func() {
				w := newWorld(func(w *world) { w.transform = transform })
				plan := func(version string) func() apply.Plan {
					return one(func() client.Object { return object(version) }, apply.CreateOnly("spec"))
				}
				stored := func() client.Object {
					GinkgoHelper()
					o := object("1")
					Expect(w.admin.Get(w.ctx, types.NamespacedName{Namespace: w.namespace, Name: "once"}, o)).To(Succeed())
					return o
				}
				w.converge(plan("1"))
				made := stored()
				w.quiet(3, plan("1"))
				for _, version := range []string{"2", "3"} {
					w.converge(plan(version))
					w.quiet(3, plan(version))
					o := stored()
					Expect(o.GetUID()).To(Equal(made.GetUID()))
					Expect(o.GetLabels()).To(HaveKeyWithValue("example.com/version", version))
					Expect(o.GetAnnotations()).To(HaveKey("only-in-" + version))
					Expect(o.GetAnnotations()).NotTo(HaveKey("only-in-1"))
					Expect(specOf(o)).To(Equal(specOf(made)))
				}
				By("restarting the process")
				w.restart()
				w.converge(plan("3"))
				_, sent := w.pass(plan("3")())
				Expect(sent).To(BeEmpty())
				w.converge(plan("2"))
				Expect(specOf(stored())).To(Equal(specOf(made)))
			})
		}
	}

	for situation, enter := range situations() {
		for _, leader := range []string{"the engine that made it", "a new leader"} {
			It("keeps a credential that each plan generates anew: "+situation+", "+leader, func() {
				w := newWorld()
				plan := func(password, label string) func() apply.Plan {
					return one(func() client.Object {
						s := &corev1.Secret{ObjectMeta: meta("credentials"), Data: map[string][]byte{"password": []byte(password)}}
						s.Labels = map[string]string{"label": label}
						return s
					}, apply.CreateOnly(`data["password"]`))
				}
				stored := func() *corev1.Secret {
					GinkgoHelper()
					s := &corev1.Secret{}
					Expect(w.admin.Get(w.ctx, types.NamespacedName{Namespace: w.namespace, Name: "credentials"}, s)).To(Succeed())
					return s
				}
				v := w.through("Secret")
				result, _ := w.pass(plan("first", "1")())
				Expect(result.Err()).NotTo(HaveOccurred())
				if leader == "a new leader" {
					v = w.through("Secret")
				}
				enter(w, v, stored())
				for i := range 5 {
					result, _ := w.pass(plan(fmt.Sprintf("drawn-%d", i), fmt.Sprint(i))())
					Expect(result.Err()).NotTo(HaveOccurred())
					Expect(stored().Data).To(Equal(map[string][]byte{"password": []byte("first")}))
					Expect(stored().Labels).To(HaveKeyWithValue("label", fmt.Sprint(i)))
					w.clock.Step(7 * time.Second)
				}
				By("it is taken away")
				w.through("Secret")
				w.edit(stored(), types.JSONPatchType, `[{"op":"remove","path":"/data/password"}]`, "user")
				w.converge(plan("new", "x"))
				Expect(stored().Data).To(Equal(map[string][]byte{"password": []byte("new")}))
			})
		}
	}

	It("is what the API server had first when two leaders make it at once", func() {
		w := newWorld()
		plan := func(password string) apply.Plan {
			return one(func() client.Object {
				return &corev1.Secret{ObjectMeta: meta("credentials"), Data: map[string][]byte{"password": []byte(password)}}
			}, apply.CreateOnly(`data["password"]`))()
		}
		other, err := engine.New(w.admin, w.admin, w.options)
		Expect(err).NotTo(HaveOccurred())
		w.meanwhile(func() {
			Expect(other.Apply(w.ctx, w.stored(), plan("other")).Err()).NotTo(HaveOccurred())
		})
		result, _ := w.pass(plan("late"))
		Expect(result.Err()).NotTo(HaveOccurred())
		s := &corev1.Secret{}
		Expect(w.admin.Get(w.ctx, types.NamespacedName{Namespace: w.namespace, Name: "credentials"}, s)).To(Succeed())
		Expect(s.Data).To(Equal(map[string][]byte{"password": []byte("other")}))
	})

	It("is not repeated over what somebody has expanded or adopted", func() {
		w := newWorld()
		mine := configMap("once", "theirs")
		mine.Namespace = w.namespace
		Expect(w.admin.Create(w.ctx, mine)).To(Succeed())
		w.syncedObject(mine)
		plan := one(func() client.Object { return configMap("once", "ours") }, apply.CreateOnly("data"), apply.AdoptUncontrolled)
		w.converge(plan)
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(mine), mine)).To(Succeed())
		Expect(mine.Data).To(Equal(map[string]string{"value": "theirs"}))
		Expect(mine.OwnerReferences).To(HaveLen(1))
	})
})

func specOf(o client.Object) any {
	switch o := o.(type) {
	case *corev1.Pod:
		return o.Spec
	case *batchv1.Job:
		return o.Spec
	case *corev1.PersistentVolumeClaim:
		return o.Spec
	}
	return nil
}

var _ = Describe("A create-only field in an atomic object", func() {
	rule := func(spec map[string]any, once ...string) func() apply.Plan {
		return func() apply.Plan {
			u := &unstructured.Unstructured{Object: map[string]any{"spec": runtime.DeepCopyJSON(spec)}}
			u.SetGroupVersionKind(ruleKind)
			u.SetName("rule")
			var p apply.Plan
			p.Apply(u, apply.CreateOnly(once...))
			return p
		}
	}
	whole := func(value string) func() apply.Plan {
		return rule(map[string]any{"whole": map[string]any{"a": value, "b": value, "c": value}}, "spec.whole.a", "spec.whole.b")
	}
	stored := func(w *world) any {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(ruleKind)
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "rule"}, u)).To(Succeed())
		return u.Object["spec"]
	}
	It("is kept while other planned fields change", func() {
		w := newWorld()
		w.converge(whole("1"))
		w.converge(whole("2"))
		Expect(stored(w)).To(Equal(map[string]any{"whole": map[string]any{"a": "1", "b": "1", "c": "2"}}))
		w.quiet(2, whole("2"))
	})
	It("is kept when all other fields leave the plan", func() {
		w := newWorld()
		w.converge(rule(map[string]any{"whole": map[string]any{"a": "1", "c": "1"}}, "spec.whole.a"))
		rest := rule(map[string]any{"whole": map[string]any{"a": "2"}}, "spec.whole.a")
		w.converge(rest)
		Expect(stored(w)).To(Equal(map[string]any{"whole": map[string]any{"a": "1"}}))
		w.quiet(2, rest)
	})
	caches := map[string]func(any) (any, error){
		"whole": nil, "shortened": apply.ShortenManagedFields(manager), "not at all": func(in any) (any, error) {
			if o, ok := in.(client.Object); ok {
				o.SetManagedFields(nil)
			}
			return in, nil
		},
	}
	for cached, transform := range caches {
		It("is kept after another manager changed the object and owns it, in a cache that shows managedFields "+cached, func() {
			w := newWorld(func(w *world) { w.transform = transform })
			w.converge(whole("1"))
			u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "rule", "namespace": w.namespace}}}
			u.SetGroupVersionKind(ruleKind)
			edit := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"whole":{"c":"9"}}}`))
			Expect(w.admin.Patch(w.ctx, u, edit, client.FieldOwner("editor"))).To(Succeed())
			w.converge(whole("2"))
			Expect(stored(w)).To(Equal(map[string]any{"whole": map[string]any{"a": "1", "b": "1", "c": "2"}}))
			w.quiet(2, whole("2"))
		})
	}
})

var _ = Describe("A create-only field that contains an empty value", func() {
	It("is kept if the API server does not store the empty value", func() {
		w := newWorld()
		plan := func(revision string, opts ...apply.ChildOption) func() apply.Plan {
			return one(func() client.Object {
				pod := map[string]any{
					"metadata": map[string]any{"labels": map[string]any{"app": "x"}},
					"spec": map[string]any{
						"initContainers": []any{map[string]any{"name": "init", "image": "i:1", "command": []any{"a"}, "args": []any{}}},
						"containers":     []any{map[string]any{"name": "main", "image": "i:1"}},
					},
				}
				u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
					"selector": map[string]any{"matchLabels": map[string]any{"app": "x"}}, "template": pod,
				}}}
				u.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
				u.SetName("web")
				u.SetAnnotations(map[string]string{"revision": revision})
				return u
			}, opts...)
		}
		w.converge(plan("1"))
		result, _ := w.pass(plan("2", apply.CreateOnly("spec.template.spec.initContainers"))())
		Expect(result.Err()).NotTo(HaveOccurred())
		d := w.deployment("web")
		Expect(d.Annotations).To(HaveKeyWithValue("revision", "2"))
		Expect(d.Spec.Template.Spec.InitContainers).To(HaveLen(1))
	})

	It("is kept if the plan replaces a string with an empty object", func() {
		w := newWorld()
		plan := func(value any, more string) func() apply.Plan {
			return one(func() client.Object {
				u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"config": map[string]any{"once": value, "more": more}}}}
				u.SetGroupVersionKind(ruleKind)
				u.SetName("rule")
				return u
			}, apply.CreateOnly("spec.config.once"))
		}
		w.converge(plan("text", "1"))
		w.converge(plan(map[string]any{}, "2"))
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(ruleKind)
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "rule"}, u)).To(Succeed())
		Expect(u.Object["spec"]).To(Equal(map[string]any{"config": map[string]any{"once": "text", "more": "2"}}))
	})
})
