package engine_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// ownerIn creates an owner of a tenant in the other namespace, with the label of another owner's set.
func (a *attempt) ownerIn(set string) *widget.Widget {
	GinkgoHelper()
	o := &widget.Widget{
		ObjectMeta: metav1.ObjectMeta{Name: "tenant", Namespace: a.far, Labels: map[string]string{applyset.IDLabel: set}},
		Spec:       widget.Spec{Message: "x"},
	}
	a.create(o)
	return o
}

// asksNothing expects that no annotation would permit to adopt the planned objects, although a tenant sets the label of the set again and
// again.
func (a *attempt) asksNothing(set string, plan apply.Plan) {
	GinkgoHelper()
	for range 3 {
		o := a.stored()
		o.Labels = map[string]string{applyset.IDLabel: set}
		Expect(a.admin.Update(a.ctx, o)).To(Succeed())
		result := a.passes(1, plan)
		_, asks := tokenOf(result)
		Expect(asks).To(BeZero(), "%v", result.Err())
		Expect(ownedByAnother(result)).To(BeTrue(), "%v", result.Err())
	}
}

// The table has the second round of hypotheses of docs/promises about the marks of owners and children.
var _ = DescribeTable("The marks of owners and children", func(try func(a *attempt)) {
	w := newWorld(declared)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "apply-far-"}}
	Expect(w.admin.Create(w.ctx, ns)).To(Succeed())
	w.owner = &widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: "tracked", Namespace: w.namespace}, Spec: widget.Spec{Message: "x"}}
	Expect(w.admin.Create(w.ctx, w.owner, client.FieldOwner("user"))).To(Succeed())
	try(&attempt{world: w, far: ns.Name})
},
	Entry("21 forged: the set of an owner that keeps its inventory under names of its own gives nothing of its children", func(a *attempt) {
		a.converge(configMaps(1)) // the first controller takes the names of KEP-3659
		second := &attempt{world: a.another("another"), far: a.far}
		victim := second.in(a.far, configMap("far", "theirs"))
		second.converge(func() apply.Plan { return planned(victim) })
		set := applyset.IDOf(widget.GroupVersion.WithKind("Widget").GroupKind(), client.ObjectKeyFromObject(a.owner), "another")
		second.syncedObject(a.owner)
		second.owner, second.namespace = a.ownerIn(set), a.far
		second.restart()
		second.syncedObject(victim)
		second.syncedObject(a.owner)
		second.asksNothing(set, planned(configMap("far", "mine")))
	}),
	Entry("22 forged: the set of an owner that has lost its inventory gives nothing of its children", func(a *attempt) {
		victim := a.in(a.far, configMap("far", "theirs"))
		a.converge(func() apply.Plan { return planned(victim) })
		a.stop()
		a.replaceOwner()
		first, set := a.owner, a.set()
		a.owner, a.namespace = a.ownerIn(set), a.far
		a.start()
		a.syncedObject(victim)
		a.syncedObject(first)
		a.asksNothing(set, planned(configMap("far", "mine")))
	}),
	Entry("23 forged: marks under the field manager of the operator make an object a child, as docs/security.md says", func(a *attempt) {
		a.converge(configMaps(3))
		o := a.create(a.in(a.namespace, configMap("forged", "theirs")))
		shared := a.create(a.in(a.namespace, configMap("forged-part", "theirs")))
		marks := func(o client.Object, by, metadata string) {
			GinkgoHelper()
			body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,%s}}`, o.GetName(), metadata)
			Expect(a.admin.Patch(a.ctx, o, client.RawPatch(types.ApplyPatchType, []byte(body)), client.FieldOwner(by))).To(Succeed())
		}
		marks(o, manager, fmt.Sprintf(`"labels":{%q:%q},"ownerReferences":[{"apiVersion":%q,"kind":"Widget","name":%q,"uid":%q,"controller":true}]`,
			applyset.PartOfLabel, a.set(), widget.GroupVersion, a.owner.Name, a.owner.UID))
		marks(shared, manager+":"+string(a.owner.UID), fmt.Sprintf(`"annotations":{%q:"true"}`, applyset.SharedAnnotation))
		a.annotate("reconcilekit.dev/contributions", "ConfigMap/"+a.namespace+"/forged-part")
		a.restart()
		a.syncedObject(o)
		a.syncedObject(shared)
		a.syncedObject(a.stored())
		a.converge(configMaps(3))
		Expect(a.exists(o)).To(BeFalse())
		Expect(a.exists(shared)).To(BeFalse())
	}),
	Entry("24 lost answer: a contribution that was given back is not taken from the object that replaced its object", func(a *attempt) {
		target := func() *corev1.ConfigMap {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "target", Namespace: a.namespace}, Data: map[string]string{"value": "ours"}}
		}
		theirs := target()
		theirs.Data = nil
		a.create(theirs)
		a.syncedObject(theirs)
		plan := func() (p apply.Plan) { p.Contribute(target()); return p }
		a.converge(plan)
		a.requests.lose = func(r *http.Request) bool {
			return r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/configmaps/target")
		}
		result, _ := a.pass(apply.Plan{})
		Expect(result.Err()).To(HaveOccurred())
		a.requests.lose = nil
		Expect(a.admin.Delete(a.ctx, theirs)).To(Succeed())
		next := a.create(target())
		a.converge(func() apply.Plan { return apply.Plan{} })
		a.untouched(next)
	}),
	Entry("25 edited: a finalizer that a user removes from a living owner is set again", func(a *attempt) {
		plan := func() apply.Plan { return planned(a.role("own")) }
		a.converge(plan)
		for _, stopped := range []bool{false, true} {
			if stopped {
				a.stop()
			}
			o := a.stored()
			o.Finalizers = nil
			Expect(a.admin.Update(a.ctx, o)).To(Succeed())
			if stopped {
				a.start()
				a.syncedObject(a.role("own"))
			}
			a.converge(plan)
			Expect(a.stored().Finalizers).To(HaveLen(1))
		}
		Eventually(func() bool { return a.finalizing(1).Finalized || a.finalize(1).Finalized }).Should(BeTrue())
		Expect(a.exists(a.role("own"))).To(BeFalse())
	}),
	Entry("26 lost: a cluster-scoped child without managers is named although another manager applies to it", func(a *attempt) {
		plan := func() apply.Plan { return planned(configMap("cm", "1"), a.role("own")) }
		a.converge(plan)
		a.stop()
		a.resetManagers(a.role("own"))
		applied := fmt.Sprintf(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":%q,"annotations":{"theirs":"1"}}}`, a.role("own").GetName())
		Expect(a.admin.Patch(a.ctx, a.role("own"), client.RawPatch(types.ApplyPatchType, []byte(applied)), client.FieldOwner("other"))).To(Succeed())
		a.start()
		a.syncedObject(a.role("own"))
		a.touchSpec()
		result := a.passes(2, planned(configMap("cm", "1")))
		Expect(unproven(result)).To(HaveOccurred(), "%v", result.Objects)
		result = a.finalize(3)
		Expect(unproven(result)).To(HaveOccurred())
		Expect(result.Finalized).To(BeFalse())
		Expect(a.exists(a.role("own"))).To(BeTrue())
	}),
	Entry("27 former leader: a plan that changes after another process has created a child does not prune it", func(a *attempt) {
		a.converge(configMaps(3))
		old, oldClient := a.engine, a.client
		time.Sleep(time.Second) // creation times have seconds
		a.world = func() *world { next := *a.world; return &next }()
		a.start()
		DeferCleanup(a.stop)
		a.converge(configMaps(4))
		a.engine, a.client = old, oldClient
		a.syncedObject(configMap("cm-3", ""))
		a.clock.Step(20 * time.Minute)
		a.touchSpec()
		a.passes(3, planned(configMap("cm-0", "x"), configMap("cm-1", "x"), configMap("cm-2", "x"), configMap("other", "x")))
		Expect(a.names()).To(ContainElement("cm-3"))
	}),
	Entry("29 left over: a permission for a prune that is not needed any more permits no later one", func(a *attempt) {
		a.converge(configMaps(6))
		blocked := a.held(configMaps(1)(), apply.ReasonTooMany)
		a.annotate(blocked.Annotation, blocked.Token)
		a.converge(configMaps(6))
		Expect(a.stored().Annotations).NotTo(HaveKey(blocked.Annotation))
		a.restart()
		a.synced(configMaps(6))
		a.held(configMaps(1)(), apply.ReasonTooMany)
		Expect(a.names()).To(HaveLen(6))
	}),
	Entry("31 another version: an older process does not drop a kind from the inventory that a newer one has recorded", func(a *attempt) {
		a.converge(configMaps(1))
		view := a.throughPartialView()
		a.converge(configMaps(1))
		old := a.engine
		newer := &attempt{world: func() *world { next := *a.world; return &next }(), far: a.far}
		newer.start()
		DeferCleanup(newer.stop)
		stale := a.stored()
		newer.converge(func() apply.Plan { return planned(configMap("cm-0", "x"), a.role("own")) })
		_ = view
		result := old.Apply(a.ctx, stale, planned(configMap("cm-0", "x"), &corev1.ServiceAccount{ObjectMeta: meta("account")}))
		Expect(result.OwnerErr).NotTo(HaveOccurred())
		Expect(a.stored().Annotations).To(HaveKeyWithValue(applyset.GroupKindsAnnotation, ContainSubstring("ClusterRole")))
	}),
	Entry("32 terminating namespace: a contribution there does not keep a deleted owner", func(a *attempt) {
		target := a.create(a.in(a.far, configMap("target", "theirs")))
		a.syncedObject(target)
		a.converge(func() (p apply.Plan) {
			p.Contribute(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "target", Namespace: a.far}, Data: map[string]string{"ours": "1"}})
			return p
		})
		Expect(a.admin.Delete(a.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: a.far}})).To(Succeed())
		Expect(a.finalize(2).Finalized).To(BeTrue())
		Expect(a.exists(target)).To(BeTrue())
		Expect(target.(*corev1.ConfigMap).Data).To(HaveLen(1))
	}),
	Entry("33 stale cache: a process that still sees a deleted owner leaves the children of the owner that replaced it", func(a *attempt) {
		plan := func() apply.Plan { return planned(a.role("own")) }
		a.converge(plan)
		old := a.engine
		Expect(a.admin.Delete(a.ctx, a.stored())).To(Succeed())
		stale := a.stored()
		next := &attempt{world: func() *world { w := *a.world; return &w }(), far: a.far}
		next.start()
		DeferCleanup(next.stop)
		next.syncedObject(a.role("own"))
		Eventually(func() bool { return next.finalizing(1).Finalized }).Should(BeTrue())
		next.owner = &widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: a.owner.Name, Namespace: a.namespace}, Spec: widget.Spec{Message: "x"}}
		next.create(next.owner)
		next.converge(plan)
		role := a.role("own")
		Expect(a.exists(role)).To(BeTrue())
		a.syncedObject(role)
		owner := next.stored()
		for range 3 {
			old.Apply(a.ctx, stale.DeepCopyObject().(client.Object), apply.Plan{})
		}
		a.untouched(role)
		a.untouched(owner)
	}),
	Entry("34 copied: a copy of an owner, with finalizer and inventory, takes nothing of the original when it is deleted", func(a *attempt) {
		target := a.create(configMapIn(a.namespace, "target"))
		a.syncedObject(target)
		plan := func() apply.Plan {
			p := planned(a.role("own"), a.in(a.far, configMap("far", "1")))
			p.Contribute(&corev1.ConfigMap{ObjectMeta: meta("target"), Data: map[string]string{"ours": "1"}})
			p.Apply(a.role("shared"), apply.Shared)
			return p
		}
		a.converge(plan)
		original := a.stored()
		a.owner = &widget.Widget{ObjectMeta: metav1.ObjectMeta{
			Name: "copy", Namespace: a.namespace, Labels: original.Labels, Annotations: original.Annotations, Finalizers: original.Finalizers,
		}, Spec: original.Spec}
		a.create(a.owner)
		a.restart()
		a.synced(plan)
		children := []client.Object{a.role("own"), a.in(a.far, configMap("far", "")), target, a.role("shared")}
		for _, o := range children {
			Expect(a.exists(o)).To(BeTrue())
		}
		a.passes(2, apply.Plan{})
		Expect(a.admin.Delete(a.ctx, a.stored())).To(Succeed())
		Eventually(func() error {
			a.finalizing(1)
			return a.admin.Get(a.ctx, client.ObjectKeyFromObject(a.owner), a.owner)
		}).Should(MatchError(apierrors.IsNotFound, "IsNotFound"))
		for _, o := range children {
			a.untouched(o)
		}
	}),
)

var _ = DescribeTable("A Secret that is created once is guarded", func(transform func(any) (any, error), prepare func(a *attempt, secret client.Object)) {
	w := newWorld(declared, func(w *world) { w.transform = transform })
	a := &attempt{world: w}
	secret := func() client.Object {
		return &corev1.Secret{ObjectMeta: meta("password"), StringData: map[string]string{"value": "first"}}
	}
	plan := func() apply.Plan {
		p := configMaps(6)()
		p.Apply(secret(), apply.Once)
		return p
	}
	a.converge(plan)
	a.stop()
	prepare(a, secret())
	a.start()
	a.synced(plan)
	result := a.passes(2, plan())
	if blocked := unproven(result); blocked != nil {
		a.annotate(blocked.Annotation, blocked.Token)
		a.converge(plan)
	}
	a.restart()
	a.synced(plan)
	for range 2 {
		result = a.passes(1, configMaps(6)())
		Expect(result.PruneBlocked).To(HaveOccurred(), "%v", result.Objects)
		Expect(result.PruneBlocked.Reason).To(Equal(apply.ReasonHoldsData))
	}
	Expect(a.exists(a.in(a.namespace, secret()))).To(BeTrue())
},
	Entry("28 restored: after the owner has permitted its adoption", nil, func(a *attempt, secret client.Object) { a.restore(secret, restoring{}) }),
	Entry("28 filtered: where the cache strips managedFields", stripped, func(*attempt, client.Object) {}),
)

var _ = Describe("A child of a group without managers", func() {
	for _, kept := range []bool{true, false} {
		It("is not changed before the plan adopts it; still planned: "+strconv.FormatBool(kept), func() {
			w := newWorld()
			plan := func(options ...apply.ChildOption) (p apply.Plan) {
				p.Apply(configMap("cm-0", "x"))
				p.Apply(configMap("restored", "1"), options...)
				return p
			}
			pass := func(p apply.Plan) apply.Result { return w.engine.Apply(w.ctx, w.crew(), p) }
			Eventually(func() error { return pass(plan()).Err() }).Should(Succeed())
			w.stop()
			restored := w.restore(configMap("restored", ""), restoring{})
			w.resetManagers(restored)
			w.start()
			w.syncedObject(restored)
			if !kept {
				for range 2 {
					result := pass(configMaps(1)())
					Expect(result.Err()).NotTo(HaveOccurred())
					Expect(result.PruneBlocked).NotTo(HaveOccurred())
				}
				w.untouched(restored)
				return
			}
			for range 2 {
				result := pass(plan())
				_, asks := tokenOf(result)
				Expect(asks).To(BeZero())
				Expect(ownedByAnother(result)).To(BeTrue())
			}
			w.untouched(restored)
			Eventually(func() error { return pass(plan(apply.AdoptUncontrolled)).Err() }).Should(Succeed())
			Expect(w.exists(restored)).To(BeTrue())
			Expect(restored.GetManagedFields()).To(ContainElement(HaveField("Manager", manager)))
		})
	}
})
