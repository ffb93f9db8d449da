package engine_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// onFirstWrite is a fault that calls a function once before the first write of a child.
func onFirstWrite(do func()) func(int, *http.Request) error {
	var once sync.Once
	return func(_ int, r *http.Request) error {
		if r.Method != http.MethodGet && !strings.Contains(r.URL.Path, "/widgets/") {
			once.Do(do)
		}
		return nil
	}
}

// seedCase is a seeded field and another manager that changes it.
type seedCase struct {
	name   string
	object func(version string) client.Object
	seed   string
	// take is the write of another manager, and taken is the value afterwards.
	take  func(w *world)
	value func(o client.Object) string
	taken string
	// owned is a planned field that is not seeded.
	owned func(o client.Object) string
}

func seedCases() []seedCase {
	annotation := func(o client.Object) string { return o.GetAnnotations()["example.com/version"] }
	stamped := func(o client.Object, version string) client.Object {
		o.SetAnnotations(merged(o.GetAnnotations(), map[string]string{"example.com/version": version}))
		return o
	}
	merge := func(o client.Object, patch string) func(*world) {
		return func(w *world) {
			o := o.DeepCopyObject().(client.Object)
			o.SetNamespace(w.namespace)
			Expect(w.admin.Patch(w.ctx, o, client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner("kubectl-edit"))).To(Succeed())
		}
	}
	applies := func(o client.Object, patch string) func(*world) {
		return func(w *world) {
			o := o.DeepCopyObject().(client.Object)
			o.SetNamespace(w.namespace)
			Expect(w.admin.Patch(w.ctx, o, client.RawPatch(types.ApplyPatchType, []byte(patch)),
				client.FieldOwner("gitops"), client.ForceOwnership)).To(Succeed())
		}
	}
	replicas := func(o client.Object) string { return fmt.Sprint(*o.(*appsv1.Deployment).Spec.Replicas) }
	secret := &corev1.Secret{ObjectMeta: meta("seeded"), Data: map[string][]byte{"password": []byte("first")}}
	service := &corev1.Service{ObjectMeta: meta("seeded"), Spec: corev1.ServiceSpec{
		Type: corev1.ServiceTypeClusterIP, Ports: []corev1.ServicePort{{Port: 80}},
	}}
	return []seedCase{
		{
			name: "replicas that an autoscaler sets by the scale subresource", seed: "spec.replicas",
			object: func(version string) client.Object { return stamped(deployment("seeded"), version) },
			take: func(w *world) {
				d := deployment("seeded")
				d.Namespace = w.namespace
				scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 7}}
				Expect(w.admin.SubResource("scale").Update(w.ctx, d, client.WithSubResourceBody(scale), client.FieldOwner("autoscaler"))).To(Succeed())
			},
			value: replicas, taken: "7", owned: annotation,
		},
		{
			name: "replicas that an autoscaler applies", seed: "spec.replicas",
			object: func(version string) client.Object { return stamped(deployment("seeded"), version) },
			take: applies(deployment("seeded"),
				`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"seeded"},"spec":{"replicas":7}}`),
			value: replicas, taken: "7", owned: annotation,
		},
		{
			name: "a credential that a user rotates", seed: `data["password"]`,
			object: func(version string) client.Object { return stamped(secret.DeepCopy(), version) },
			take:   merge(secret, `{"data":{"password":"cm90YXRlZA=="}}`),
			value:  func(o client.Object) string { return string(o.(*corev1.Secret).Data["password"]) }, taken: "rotated", owned: annotation,
		},
		{
			name: "a type of a Service that a user edits", seed: "spec.type",
			object: func(version string) client.Object { return stamped(service.DeepCopy(), version) },
			take:   merge(service, `{"spec":{"type":"NodePort"}}`),
			value:  func(o client.Object) string { return string(o.(*corev1.Service).Spec.Type) }, taken: "NodePort", owned: annotation,
		},
		{
			name: "an annotation whose key has dots and a slash", seed: `metadata.annotations["example.com/class"]`,
			object: func(version string) client.Object {
				o := configMap("seeded", "x")
				o.Annotations = map[string]string{"example.com/class": "ours"}
				return stamped(o, version)
			},
			take:  merge(configMap("seeded", ""), `{"metadata":{"annotations":{"example.com/class":"theirs"}}}`),
			value: func(o client.Object) string { return o.GetAnnotations()["example.com/class"] }, taken: "theirs", owned: annotation,
		},
	}
}

// situations are the states of the cache for an object that another manager is about to change. Each is set up before
// that change, and configures the view of the object.
func situations() map[string]func(w *world, v *view, o client.Object) {
	freeze := func(w *world, v *view, o client.Object) {
		w.syncedObject(o)
		v.show(false, true)
		Expect(v.Get(w.ctx, types.NamespacedName{Namespace: w.namespace, Name: o.GetName()}, o)).To(Succeed())
	}
	return map[string]func(w *world, v *view, o client.Object){
		"the cache shows it":  func(*world, *view, client.Object) {},
		"the cache hides it":  func(_ *world, v *view, _ client.Object) { v.show(true, false) },
		"the cache is frozen": freeze,
	}
}

var _ = Describe("Seeds", func() {
	for _, c := range seedCases() {
		for situation, enter := range situations() {
			for _, leader := range []string{"the engine that made it", "an engine that has waited for its cache", "a new leader"} {
				It(fmt.Sprintf("yield %s: %s, %s", c.name, situation, leader), func() {
					w := newWorld()
					plan := func(version string) func() apply.Plan {
						return one(func() client.Object { return c.object(version) }, apply.Seed(c.seed))
					}
					gvk, err := w.admin.GroupVersionKindFor(c.object(""))
					Expect(err).NotTo(HaveOccurred())
					stored := func() client.Object {
						o := c.object("")
						Expect(w.admin.Get(w.ctx, types.NamespacedName{Namespace: w.namespace, Name: "seeded"}, o)).To(Succeed())
						return o
					}
					v := w.through(gvk.Kind)
					result, _ := w.pass(plan("1")())
					Expect(result.Err()).NotTo(HaveOccurred())
					switch leader {
					case "a new leader":
						v = w.through(gvk.Kind)
					case "an engine that has waited for its cache":
						w.converge(plan("1"))
					}
					enter(w, v, c.object(""))
					c.take(w)
					for _, version := range []string{"2", "3"} {
						Eventually(func(g Gomega) {
							_, _ = w.pass(plan(version)())
							g.Expect(c.owned(stored())).To(Equal(version))
						}).Should(Succeed())
						Expect(c.value(stored())).To(Equal(c.taken), "version %s", version)
						w.clock.Step(time.Minute)
					}
				})
			}
		}
		It("yield "+c.name+" taken between the read and the write", func() {
			w := newWorld()
			plan := func(version string) func() apply.Plan {
				return one(func() client.Object { return c.object(version) }, apply.Seed(c.seed))
			}
			w.converge(plan("1"))
			w.meanwhile(func() { c.take(w) })
			Eventually(func(g Gomega) {
				result, _ := w.pass(plan("2")())
				g.Expect(result.Err()).NotTo(HaveOccurred())
			}).Should(Succeed())
			o := c.object("")
			Expect(w.admin.Get(w.ctx, types.NamespacedName{Namespace: w.namespace, Name: "seeded"}, o)).To(Succeed())
			Expect(c.value(o)).To(Equal(c.taken))
			Expect(c.owned(o)).To(Equal("2"))
		})
	}

	It("follow the plan while no other manager owns them", func() {
		w := newWorld()
		plan := func(replicas int32) func() apply.Plan {
			return one(func() client.Object {
				d := deployment("seeded")
				d.Spec.Replicas = &replicas
				return d
			}, apply.Seed("spec.replicas"))
		}
		w.converge(plan(2))
		w.converge(plan(3))
		Expect(w.deployment("seeded")).To(HaveField("Spec.Replicas", HaveValue(BeEquivalentTo(3))))
	})

	It("are set again if the autoscaler that applied them releases them", func() {
		for _, shortened := range []bool{false, true} {
			w := newWorld(func(w *world) {
				if shortened {
					w.transform = apply.ShortenManagedFields(manager)
				}
			})
			plan := one(func() client.Object { return deployment("seeded") }, apply.Seed("spec.replicas"))
			w.converge(plan)
			w.applyAs(deployment("seeded"), "autoscaler",
				`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"seeded"},"spec":{"replicas":7}}`)
			w.quiet(3, plan)
			w.applyAs(deployment("seeded"), "autoscaler", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"seeded"}}`)
			w.converge(plan)
			Expect(w.deployment("seeded")).To(HaveField("Spec.Replicas", HaveValue(BeEquivalentTo(2))))
		}
	})

	It("yield one by one below the seeded path", func() {
		w := newWorld()
		plan := func(version string) func() apply.Plan {
			return one(func() client.Object {
				o := configMap("seeded", version)
				o.Data["a"], o.Data["b"] = "ours-"+version, "ours-"+version
				return o
			}, apply.Seed("data"))
		}
		w.converge(plan("1"))
		w.edit(configMap("seeded", ""), types.MergePatchType, `{"data":{"a":"theirs"}}`, "user")
		w.converge(plan("2"))
		o := configMap("seeded", "")
		Expect(w.admin.Get(w.ctx, types.NamespacedName{Namespace: w.namespace, Name: "seeded"}, o)).To(Succeed())
		Expect(o.Data).To(Equal(map[string]string{"value": "2", "a": "theirs", "b": "ours-2"}))
	})
})

func (w *world) deployment(name string) *appsv1.Deployment {
	GinkgoHelper()
	d := &appsv1.Deployment{}
	Expect(w.admin.Get(w.ctx, types.NamespacedName{Namespace: w.namespace, Name: name}, d)).To(Succeed())
	return d
}
