package engine_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// contest applies another value to a ConfigMap of the plan with another
// manager, so that each later apply of it fails.
func (w *world) contest(name string) {
	GinkgoHelper()
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"key":"theirs"}}`, name)
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.namespace}}
	Expect(w.admin.Patch(w.ctx, o, client.RawPatch(types.ApplyPatchType, []byte(body)),
		client.FieldOwner("rival"), client.ForceOwnership)).To(Succeed())
	w.syncedObject(o)
}

// withContested adds a child that another manager contests.
func withContested(plan func() apply.Plan) func() apply.Plan {
	return func() apply.Plan {
		p := plan()
		p.Apply(&corev1.ConfigMap{ObjectMeta: meta("contested"), Data: map[string]string{"key": "ours"}})
		return p
	}
}

func (w *world) held(plan apply.Plan, reason apply.Reason) *apply.PruneBlockedError {
	GinkgoHelper()
	result, sent := w.pass(plan)
	Expect(writes(sent)).NotTo(ContainElement(HavePrefix("DELETE ")))
	Expect(result.PruneBlocked).To(HaveOccurred())
	Expect(result.PruneBlocked.Reason).To(Equal(reason), result.PruneBlocked.Error())
	return result.PruneBlocked
}

func job(name string) client.Object {
	return &batchv1.Job{ObjectMeta: meta(name), Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}},
	}}}}
}

func claim(name string) client.Object {
	return &corev1.PersistentVolumeClaim{ObjectMeta: meta(name), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
}

// jobs returns the names of the Jobs that were not deleted.
func (w *world) jobs() []string {
	GinkgoHelper()
	var list batchv1.JobList
	Expect(w.admin.List(w.ctx, &list, client.InNamespace(w.namespace))).To(Succeed())
	var out []string
	for _, o := range list.Items {
		if o.DeletionTimestamp == nil {
			out = append(out, o.Name)
		}
	}
	return out
}

// crew is the key of a group.
type crew struct {
	metav1.PartialObjectMetadata

	kinds []schema.GroupVersionKind
}

func (c *crew) ChildKinds() []schema.GroupVersionKind { return c.kinds }

func (w *world) crew() *crew {
	c := &crew{kinds: []schema.GroupVersionKind{corev1.SchemeGroupVersion.WithKind("ConfigMap")}}
	c.SetGroupVersionKind(schema.GroupVersionKind{Group: "group", Version: "memory", Kind: "crew"})
	c.SetNamespace(w.namespace)
	c.SetName("crew")
	c.SetGeneration(1)
	c.SetUID(types.UID("group:" + w.namespace))
	return c
}

var _ = Describe("The mass-prune guard", func() {
	It("blocks while a child fails after a change of the spec", func() {
		w := newWorld()
		full := withContested(configMaps(6))
		w.converge(full)
		w.contest("contested")
		w.touchSpec()
		for range 3 {
			result, _ := w.pass(full())
			Expect(result.Err()).To(HaveOccurred())
			Expect(result.PruneBlocked).ToNot(HaveOccurred())
		}
		Expect(w.held(withContested(configMaps(0))(), apply.ReasonTooMany).Objects).To(HaveLen(6))
		By("restarting the process")
		w.restart()
		w.held(withContested(configMaps(0))(), apply.ReasonTooMany)
		Expect(w.names()).To(HaveLen(7))
	})

	It("blocks while the write of a child is rejected after a change of the inputs", func() {
		w := newWorld()
		plan := func(n int, value string) apply.Plan {
			p := configMaps(n)()
			p.Inputs = "second"
			p.Apply(&corev1.ConfigMap{ObjectMeta: meta("wrong"), Data: map[string]string{"not a key": value}})
			return p
		}
		w.converge(configMaps(5))
		result, _ := w.pass(plan(5, "1"))
		Expect(result.Err()).To(HaveOccurred())
		w.held(plan(0, "1"), apply.ReasonTooMany)
		w.held(plan(0, "2"), apply.ReasonTooMany)
	})

	It("allows the prune of the first plan of a generation until it is complete", func() {
		w := newWorld()
		w.converge(configMaps(8))
		w.touchSpec()
		deletes := 0
		w.requests.fail = func(_ int, r *http.Request) error {
			if r.Method != http.MethodDelete {
				return nil
			}
			if deletes++; deletes > 1 {
				return errors.New("no connection")
			}
			return nil
		}
		result, _ := w.pass(configMaps(2)())
		Expect(result.PruneBlocked).To(HaveOccurred())
		Expect(result.PruneBlocked.Reason).To(Equal(apply.ReasonPruneFailed))
		w.requests.fail = nil
		By("blocking another plan of the same generation")
		w.held(configMaps(0)(), apply.ReasonTooMany)
		By("allowing the first plan after the change")
		w.clock.Step(time.Minute) // a rejected delete is retried with a delay
		w.converge(configMaps(2))
		Expect(w.names()).To(ConsistOf("cm-0", "cm-1"))
	})

	It("does not count an incomplete plan as the first of a generation", func() {
		w := newWorld()
		w.converge(configMaps(5))
		w.touchSpec()
		p := configMaps(5)()
		p.PruneBlocked = errors.New("list: timeout")
		w.pass(p)
		w.converge(configMaps(1))
		Expect(w.names()).To(ConsistOf("cm-0"))
	})

	It("blocks after a restart for an owner whose status has no observed generation", func() {
		w := newWorld()
		w.converge(configMaps(5))
		w.touchSpec()
		w.converge(configMaps(5))
		w.restart()
		w.held(configMaps(0)(), apply.ReasonTooMany)
		By("allowing it after a change of the spec")
		w.touchSpec()
		w.converge(configMaps(1))
		Expect(w.names()).To(ConsistOf("cm-0"))
	})

	It("blocks if the cache shows an earlier generation again", func() {
		w := newWorld()
		w.converge(configMaps(5))
		before := w.stored()
		w.touchSpec()
		w.converge(configMaps(5))
		var blocked *apply.PruneBlockedError
		for _, owner := range []*widget.Widget{before, w.stored()} {
			result := w.engine.Apply(w.ctx, owner, configMaps(0)())
			Expect(errors.As(result.PruneBlocked, &blocked)).To(BeTrue(), "generation %d: %v", owner.Generation, result.PruneBlocked)
		}
		Expect(w.names()).To(HaveLen(5))
	})

	It("blocks if the owner is replaced without its annotations", func() {
		w := newWorld()
		w.converge(configMaps(5))
		w.touchSpec()
		w.converge(configMaps(5))
		w.replaceOwner()
		w.held(configMaps(1)(), apply.ReasonTooMany)
		w.restart()
		w.held(configMaps(1)(), apply.ReasonTooMany)
		Expect(w.names()).To(HaveLen(5))
	})

	It("blocks for a group after a restart, until a child has the token", func() {
		w := newWorld()
		pass := func(n int) apply.Result { return w.engine.Apply(w.ctx, w.crew(), configMaps(n)()) }
		Eventually(func(g Gomega) {
			result := pass(6)
			g.Expect(result.Err()).NotTo(HaveOccurred())
			g.Expect(w.names()).To(HaveLen(6))
		}).Should(Succeed())
		for range 2 {
			w.restart()
			result := pass(0)
			Expect(result.PruneBlocked).To(HaveOccurred())
			Expect(result.PruneBlocked.Reason).To(Equal(apply.ReasonTooMany))
			Expect(result.PruneBlocked.Objects).To(HaveLen(6))
			Expect(result.PruneBlocked.Error()).To(ContainSubstring("annotate one of them"))
			Expect(w.names()).To(HaveLen(6))
		}
		blocked := pass(1).PruneBlocked
		o := &corev1.ConfigMap{}
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "cm-3"}, o)).To(Succeed())
		o.Annotations[blocked.Annotation] = blocked.Token
		Expect(w.admin.Update(w.ctx, o)).To(Succeed())
		w.syncedObject(o)
		Expect(pass(1).PruneBlocked).ToNot(HaveOccurred())
		Expect(w.names()).To(ConsistOf("cm-0"))
	})

	It("does not block a plan that withdraws", func() {
		w := newWorld()
		w.converge(configMaps(5))
		w.restart()
		p := configMaps(0)()
		p.Policy = apply.Withdraw
		result, _ := w.pass(p)
		Expect(result.PruneBlocked).ToNot(HaveOccurred())
		Expect(w.names()).To(BeEmpty())
	})
})

var _ = Describe("A child with data or a workload", func() {
	plan := func(objects ...client.Object) func() apply.Plan {
		return planOf(func() []client.Object {
			out := []client.Object{configMap("a", "1"), configMap("b", "1"), configMap("c", "1")}
			for _, o := range objects {
				out = append(out, o.DeepCopyObject().(client.Object))
			}
			return out
		})
	}

	DescribeTable("is protected by the guard from the first one, and named", func(one client.Object) {
		w := newWorld()
		w.converge(plan(one))
		for range 2 {
			blocked := w.held(plan()(), apply.ReasonHoldsData)
			Expect(blocked.Objects).To(ConsistOf(ContainSubstring(one.GetName())))
			Expect(blocked.Error()).To(ContainSubstring(one.GetName()))
			w.restart()
		}
		By("pruning the other children")
		result, _ := w.pass(planOf(func() []client.Object { return []client.Object{configMap("a", "1"), configMap("b", "1")} })())
		Expect(result.PruneBlocked).To(HaveOccurred())
		Expect(w.names()).To(ConsistOf("a", "b"))
		By("setting the token")
		o := w.stored()
		if o.Annotations == nil {
			o.Annotations = map[string]string{}
		}
		o.Annotations[result.PruneBlocked.Annotation] = result.PruneBlocked.Token
		Expect(w.admin.Update(w.ctx, o)).To(Succeed())
		result, sent := w.pass(planOf(func() []client.Object { return []client.Object{configMap("a", "1"), configMap("b", "1")} })())
		Expect(result.PruneBlocked).ToNot(HaveOccurred())
		Expect(sent).To(ContainElement(HavePrefix("DELETE ")))
	},
		Entry("a job", job("one")),
		Entry("a claim", claim("one")),
		Entry("a pod", &corev1.Pod{ObjectMeta: meta("one"), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}),
	)

	It("is deleted after a change of the spec, and by a planned deletion", func() {
		w := newWorld()
		w.converge(plan(job("one"), job("two")))
		p := plan(job("one"))()
		p.Delete(job("two"))
		result, _ := w.pass(p)
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.PruneBlocked).ToNot(HaveOccurred())
		Expect(w.jobs()).To(ConsistOf("one"))
		w.touchSpec()
		result, _ = w.pass(plan()())
		Expect(result.PruneBlocked).ToNot(HaveOccurred())
		Expect(w.jobs()).To(BeEmpty())
		Expect(result.Objects).To(ContainElement(And(
			HaveField("Outcome", BeEquivalentTo(apply.OutcomePruned)), HaveField("GVK.Kind", "Job"), HaveField("HoldsData", true))))
	})

	It("can be configured", func() {
		w := newWorld(func(w *world) { w.options.GuardedKinds = []schema.GroupKind{{Kind: "ConfigMap"}} })
		w.converge(plan(job("one")))
		result, _ := w.pass(planOf(func() []client.Object { return []client.Object{configMap("a", "1"), configMap("b", "1")} })())
		Expect(result.PruneBlocked).To(HaveOccurred())
		Expect(result.PruneBlocked.Reason).To(Equal(apply.ReasonHoldsData))
		Expect(w.names()).To(ConsistOf("a", "b", "c"))
		Expect(w.jobs()).To(BeEmpty(), "a job is none of them now")
	})
})

var _ = Describe("One failing child", func() {
	It("does not block the prune of another child of its kind", func() {
		w := newWorld()
		w.converge(withContested(configMaps(4)))
		w.contest("contested")
		result, _ := w.pass(withContested(configMaps(2))())
		Expect(result.Err()).To(HaveOccurred())
		Expect(result.PruneBlocked).ToNot(HaveOccurred())
		Expect(w.names()).To(ConsistOf("cm-0", "cm-1", "contested"))
	})

	It("does not count as the replacement of a child that was planned together with it", func() {
		w := newWorld()
		plan := func(n int) apply.Plan {
			p := configMaps(n)()
			p.Apply(&corev1.ConfigMap{ObjectMeta: meta("wrong"), Data: map[string]string{"not a key": "x"}})
			return p
		}
		w.pass(plan(4))
		Expect(w.names()).To(HaveLen(4))
		result, _ := w.pass(plan(3))
		Expect(result.Err()).To(HaveOccurred())
		Expect(result.PruneBlocked).ToNot(HaveOccurred())
		Expect(w.names()).To(HaveLen(3))
	})

	It("blocks the prune of a child that it may replace, and names it", func() {
		w := newWorld()
		w.converge(configMaps(4))
		next := func(value string) apply.Plan {
			p := configMaps(3)()
			p.Apply(&corev1.ConfigMap{ObjectMeta: meta("cm-new"), Data: map[string]string{value: "x"}})
			p.Apply(&corev1.ServiceAccount{ObjectMeta: meta("sa")})
			return p
		}
		for range 2 {
			blocked := w.held(next("not a key"), apply.ReasonReplacementFailed)
			Expect(blocked.Objects).To(ConsistOf(ContainSubstring("cm-3")))
			Expect(blocked.Error()).To(ContainSubstring("cm-new"))
			Expect(w.names()).To(ConsistOf("cm-0", "cm-1", "cm-2", "cm-3"))
		}
		result, _ := w.pass(next("key"))
		Expect(result.PruneBlocked).ToNot(HaveOccurred())
		Expect(w.names()).To(ConsistOf("cm-0", "cm-1", "cm-2", "cm-new"))
	})

	It("does not block the prune of a role binding, which grants permissions", func() {
		w := newWorld()
		binding := func(name, role string) client.Object {
			return &rbacv1.RoleBinding{
				ObjectMeta: meta(name), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role},
				Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
			}
		}
		w.converge(planOf(func() []client.Object { return []client.Object{binding("kept", "r"), binding("revoked", "r")} }))
		result, _ := w.pass(planOf(func() []client.Object {
			return []client.Object{binding("kept", "r"), binding("new", "")} // the API server rejects an empty role
		})())
		Expect(result.Err()).To(HaveOccurred())
		err := w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "revoked"}, &rbacv1.RoleBinding{})
		Expect(apierrors.IsNotFound(err)).To(BeTrue())
	})
})

var _ = Describe("A child that another client deletes after each creation", func() {
	DescribeTable("is reported and not created again repeatedly", func(seen bool, step time.Duration) {
		w := newWorld()
		w.converge(configMaps(2))
		made := 0
		var reported error
		for range 40 {
			o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cm-1", Namespace: w.namespace}}
			Expect(client.IgnoreNotFound(w.admin.Delete(w.ctx, o))).To(Succeed())
			w.gone(o)
			w.clock.Step(step)
			result, sent := w.pass(configMaps(2)())
			if result.Err() != nil {
				reported = result.Err()
				Expect(result.RequeueAfter).NotTo(BeZero())
			}
			if strings.Contains(strings.Join(sent, " "), "PATCH /api/v1/namespaces/"+w.namespace+"/configmaps/cm-1") {
				made++
				w.syncedObject(o)
				if seen {
					w.pass(configMaps(2)())
				}
			}
		}
		Expect(made).To(And(BeNumerically(">=", 5), BeNumerically("<", 25)))
		Expect(reported).To(MatchError(And(ContainSubstring("cm-1"), ContainSubstring("deleted"))))
		By("stopping the other client")
		w.clock.Step(time.Hour)
		w.converge(configMaps(2))
		Expect(w.names()).To(ConsistOf("cm-0", "cm-1"))
	},
		Entry("without a delay", true, time.Duration(0)),
		Entry("every second", true, time.Second),
		Entry("before a reconciliation reads it", false, 11*time.Second),
	)

	It("is created again each time if the engine deleted it", func() {
		w := newWorld()
		for range 12 {
			w.converge(configMaps(2))
			w.converge(configMaps(1))
		}
		w.converge(configMaps(2))
	})
})
