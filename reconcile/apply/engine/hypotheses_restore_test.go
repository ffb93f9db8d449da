package engine_test

import (
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// attempt tests one hypothesis about the proof of ownership. The engine is restarted between before and after.
type attempt struct {
	*world

	far string // another namespace
}

func (a *attempt) in(namespace string, o client.Object) client.Object {
	o.SetNamespace(namespace)
	return o
}

func (a *attempt) role(name string) client.Object {
	return &rbacv1.ClusterRole{ObjectMeta: meta(name + "-" + a.far)}
}

// set returns the ApplySet ID of the owner.
func (a *attempt) set() string {
	return applyset.ID(widget.GroupVersion.WithKind("Widget").GroupKind(), client.ObjectKeyFromObject(a.owner))
}

// label sets the part-of label of an object as a user.
func (a *attempt) label(o client.Object, set string) client.Object {
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[applyset.PartOfLabel] = set
	o.SetLabels(labels)
	return o
}

// create creates an object of a user.
func (a *attempt) create(o client.Object) client.Object {
	GinkgoHelper()
	Expect(a.admin.Create(a.ctx, o, client.FieldOwner("user"))).To(Succeed())
	return o
}

// passes runs n reconciliations and returns the last result.
func (a *attempt) passes(n int, plan apply.Plan) (result apply.Result) {
	GinkgoHelper()
	for range n {
		result, _ = a.pass(plan)
	}
	return result
}

// planned returns a plan of these objects.
func planned(objects ...client.Object) (plan apply.Plan) {
	for _, o := range objects {
		plan.Apply(o.DeepCopyObject().(client.Object))
	}
	return plan
}

// The table contains the hypotheses of docs/promises about forged, lost, copied, restored and replaced proofs. Each entry expects that the
// hypothesis is false.
var _ = DescribeTable("The proof of ownership", func(try func(a *attempt)) {
	w := newWorld(declared)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "apply-far-"}}
	Expect(w.admin.Create(w.ctx, ns)).To(Succeed())
	// The API server keeps no managedFields of an object that was created without any field.
	w.owner = &widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: "tracked", Namespace: w.namespace}, Spec: widget.Spec{Message: "x"}}
	Expect(w.admin.Create(w.ctx, w.owner, client.FieldOwner("user"))).To(Succeed())
	try(&attempt{world: w, far: ns.Name})
},
	Entry("1 forged: an owner with the ApplySet ID of another one does not take over its children", func(a *attempt) {
		victims := planned(a.in(a.far, configMap("far", "theirs")), a.role("victim"), configMap("near", "theirs"))
		a.converge(func() apply.Plan { return victims })
		victim := a.owner
		a.stop()
		near := a.in(a.namespace, configMap("near", ""))
		Expect(a.exists(near)).To(BeTrue())
		near.SetOwnerReferences(nil)
		Expect(a.admin.Update(a.ctx, near)).To(Succeed())
		set := a.set()
		a.owner = a.newOwner("attacker")
		o := a.stored()
		o.Labels = map[string]string{applyset.IDLabel: set}
		Expect(a.admin.Update(a.ctx, o)).To(Succeed())
		a.start()
		for _, child := range victims.Children {
			a.syncedObject(child.Object)
		}
		a.syncedObject(victim)
		result := a.passes(3, victims)
		_, asks := tokenOf(result)
		Expect(asks).To(BeZero(), "%v", result.Err())
		Expect(ownedByAnother(result)).To(BeTrue())
		a.passes(2, apply.Plan{Policy: apply.Withdraw})
		for _, child := range victims.Children {
			Expect(a.exists(child.Object.DeepCopyObject().(client.Object))).To(BeTrue())
		}
	}),
	Entry("2 forged: a token does not adopt an object without the owner's label", func(a *attempt) {
		o := a.theirs(configMap("cm", "theirs"))
		a.syncedObject(o)
		result := a.passes(2, planned(configMap("cm", "ours")))
		_, asks := tokenOf(result)
		Expect(asks).To(BeZero())
		Expect(ownedByAnother(result)).To(BeTrue())
		a.untouched(o)
	}),
	Entry("3 forged: a label and the annotation on a child do not adopt it", func(a *attempt) {
		o := a.theirs(a.label(configMap("cm", "theirs"), a.set()))
		a.syncedObject(o)
		token, asks := tokenOf(a.passes(2, planned(configMap("cm", "ours"))))
		Expect(asks).To(Equal(1))
		o.SetAnnotations(map[string]string{adoptRestored: token})
		Expect(a.admin.Update(a.ctx, o)).To(Succeed())
		a.syncedObject(o)
		Expect(ownedByAnother(a.passes(2, planned(configMap("cm", "ours"))))).To(BeTrue())
		a.untouched(o)
	}),
	Entry("4 replaced: the token of an object does not count for the one that replaced it", func(a *attempt) {
		o := a.theirs(a.label(configMap("cm", "theirs"), a.set()))
		a.syncedObject(o)
		token, _ := tokenOf(a.passes(2, planned(configMap("cm", "ours"))))
		Expect(a.admin.Delete(a.ctx, o)).To(Succeed())
		o = a.theirs(a.label(configMap("cm", "also theirs"), a.set()))
		a.syncedObject(o)
		a.annotate(adoptRestored, token)
		Expect(ownedByAnother(a.passes(2, planned(configMap("cm", "ours"))))).To(BeTrue())
		a.untouched(o)
	}),
	Entry("5 forged: a label in a namespace that no inventory names does not keep an owner", func(a *attempt) {
		a.converge(func() apply.Plan { return planned(a.role("own")) })
		o := a.create(a.label(a.in(a.far, configMap("cm", "theirs")), a.set()))
		a.syncedObject(o)
		Eventually(func() bool { return a.finalize(1).Finalized }).Should(BeTrue())
		a.untouched(o)
	}),
	Entry("6 lost: a cluster-scoped child that leaves the plan is kept and named", func(a *attempt) {
		a.converge(func() apply.Plan { return planned(configMap("cm", "1"), a.role("own")) })
		a.stop()
		a.resetManagers(a.role("own"))
		a.start()
		a.syncedObject(a.role("own"))
		a.touchSpec()
		result := a.passes(2, planned(configMap("cm", "1")))
		Expect(unproven(result)).To(HaveOccurred())
		Expect(a.exists(a.role("own"))).To(BeTrue())
	}),
	Entry("7 lost: a child in another namespace that is restored alone is reported with an action, and not changed before", func(a *attempt) {
		plan := func() apply.Plan { return planned(a.in(a.far, configMap("cm", "new"))) }
		a.converge(func() apply.Plan { return planned(a.in(a.far, configMap("cm", "old"))) })
		a.stop()
		o := a.restore(a.in(a.far, configMap("cm", "")), restoring{})
		a.resetManagers(o)
		a.start()
		a.syncedObject(o)
		token, asks := tokenOf(a.passes(2, plan()))
		Expect(asks).To(Equal(1))
		a.untouched(o)
		a.annotate(adoptRestored, token)
		a.converge(plan)
		Expect(a.exists(o)).To(BeTrue())
		Expect(o.(*corev1.ConfigMap).Data).To(HaveKeyWithValue("value", "new"))
	}),
	Entry("8 lost: a shared object without managedFields is not deleted with one of two owners", func(a *attempt) {
		plan := func() (p apply.Plan) { p.Apply(a.role("shared"), apply.Shared); return p }
		a.converge(plan)
		first := a.owner
		a.owner = a.newOwner("second")
		a.converge(plan)
		a.stop()
		a.resetManagers(a.role("shared"))
		a.start()
		a.syncedObject(a.role("shared"))
		a.owner = first
		result := a.finalize(3)
		Expect(unproven(result)).To(HaveOccurred())
		Expect(result.Finalized).To(BeFalse())
		Expect(a.exists(a.role("shared"))).To(BeTrue())
	}),
	Entry("10 copied: a copy in a recorded namespace is not deleted with the owner", func(a *attempt) {
		a.converge(func() apply.Plan { return planned(a.in(a.far, configMap("cm", "1"))) })
		o := a.create(a.label(a.in(a.far, configMap("copy", "1")), a.set()))
		a.syncedObject(o)
		Eventually(func(g Gomega) {
			result := a.finalize(1)
			g.Expect(result.Finalized).To(BeTrue(), "%v %v %v", result.PruneBlocked, result.Err(), result.Objects)
		}).Should(Succeed())
		a.untouched(o)
		Expect(a.exists(a.in(a.far, configMap("cm", "")))).To(BeFalse())
	}),
	Entry("11 copied: the annotation of an owner does not count on a copy of the owner", func(a *attempt) {
		o := a.theirs(a.label(configMap("cm", "theirs"), a.set()))
		a.syncedObject(o)
		token, _ := tokenOf(a.passes(2, planned(configMap("cm", "ours"))))
		a.annotate(adoptRestored, token)
		annotations, labels := a.stored().Annotations, a.stored().Labels
		a.owner = a.newOwner("copy")
		current := a.stored()
		current.Annotations, current.Labels = annotations, labels
		Expect(a.admin.Update(a.ctx, current)).To(Succeed())
		Expect(ownedByAnother(a.passes(2, planned(configMap("cm", "ours"))))).To(BeTrue())
		a.untouched(o)
	}),
	Entry("12 copied: a copy of a shared object is not taken over", func(a *attempt) {
		plan := func(name string) (p apply.Plan) { p.Apply(configMap(name, "1"), apply.Shared); return p }
		a.converge(func() apply.Plan { return plan("shared") })
		original := a.in(a.namespace, configMap("shared", ""))
		Expect(a.exists(original)).To(BeTrue())
		o := configMap("copy", "theirs")
		o.Annotations = original.GetAnnotations()
		a.theirs(o)
		a.syncedObject(o)
		a.owner = a.newOwner("other")
		Expect(ownedByAnother(a.passes(2, plan("copy")))).To(BeTrue())
		a.passes(2, apply.Plan{Policy: apply.Withdraw})
		a.untouched(o)
	}),
	Entry("13 restored: a status of a later generation does not disable the guard", func(a *attempt) {
		a.converge(configMaps(6))
		a.stop()
		for i := range 6 {
			a.restore(configMap("cm-"+strconv.Itoa(i), ""), restoring{managers: true})
		}
		a.restoreOwner(restoring{managers: true})
		o := a.stored()
		o.Status.ObservedGeneration = 7
		Expect(a.admin.Status().Update(a.ctx, o)).To(Succeed())
		a.start()
		a.synced(configMaps(6))
		a.converge(configMaps(6))
		a.touchSpec()
		a.restart()
		a.synced(configMaps(6))
		result := a.passes(2, configMaps(1)())
		Expect(result.PruneBlocked).To(HaveOccurred())
		Expect(result.PruneBlocked.Reason).To(Equal(apply.ReasonTooMany))
		Expect(a.names()).To(HaveLen(6))
	}),
	Entry("14 restored: namespaces that no longer exist neither cause requests nor block the deletion of an owner", func(a *attempt) {
		a.converge(func() apply.Plan { return planned(configMap("cm", "1"), a.role("own")) })
		a.stop()
		a.restoreOwner(restoring{})
		a.annotate(applyset.NamespacesAnnotation, "gone-1,gone-2,"+a.far)
		o := a.stored()
		o.Finalizers = []string{"reconcilekit.dev/" + manager}
		Expect(a.admin.Update(a.ctx, o)).To(Succeed())
		Expect(a.admin.Delete(a.ctx, a.role("own"))).To(Succeed())
		Expect(a.admin.Delete(a.ctx, a.in(a.namespace, configMap("cm", "")))).To(Succeed())
		a.start()
		plan := func() apply.Plan { return planned(configMap("cm", "1"), a.role("own")) }
		a.converge(plan)
		a.quiet(2, plan)
		Eventually(func() bool { return a.finalize(1).Finalized }).Should(BeTrue())
		Expect(a.exists(a.role("own"))).To(BeFalse())
	}),
	Entry("17 restored: children restored before their owner are not pruned by the plan of a newer version", func(a *attempt) {
		a.converge(configMaps(3))
		a.stop()
		for i := range 3 {
			a.restore(configMap("cm-"+strconv.Itoa(i), ""), restoring{})
		}
		a.restoreOwner(restoring{})
		a.start()
		a.synced(configMaps(3))
		result := a.passes(3, planned(configMap("cm-0", "x"), configMap("new", "x")))
		token, asks := tokenOf(result)
		Expect(asks).To(Equal(1))
		Expect(a.names()).To(ConsistOf("cm-0", "cm-1", "cm-2", "new"))
		a.annotate(adoptRestored, token)
		a.converge(func() apply.Plan { return planned(configMap("cm-0", "x"), configMap("new", "x")) })
		Expect(a.names()).To(ConsistOf("cm-0", "cm-1", "cm-2", "new"), "without a reference they stay")
	}),
	Entry("18 replaced: an object with the labels of a child that replaced it is not overwritten", func(a *attempt) {
		a.converge(configMaps(1))
		a.stop()
		o := a.in(a.namespace, configMap("cm-0", ""))
		Expect(a.exists(o)).To(BeTrue())
		Expect(a.admin.Delete(a.ctx, o)).To(Succeed())
		theirs := a.theirs(a.label(configMap("cm-0", "theirs"), a.set()))
		a.start()
		a.syncedObject(theirs)
		Expect(ownedByAnother(a.passes(3, configMaps(1)()))).To(BeTrue())
		a.passes(2, apply.Plan{Policy: apply.Withdraw})
		a.untouched(theirs)
	}),
	Entry("20 replaced: an owner that is created again does not take children from the garbage collector", func(a *attempt) {
		a.converge(configMaps(2))
		Expect(a.admin.Delete(a.ctx, a.stored())).To(Succeed())
		a.owner = a.newOwner(a.owner.Name)
		var left []client.Object
		for i := range 2 {
			o := a.in(a.namespace, configMap("cm-"+strconv.Itoa(i), ""))
			Expect(a.exists(o)).To(BeTrue())
			left = append(left, o)
		}
		for range 2 {
			Expect(ownedByAnother(a.passes(3, configMaps(2)()))).To(BeTrue())
			for _, o := range left {
				a.untouched(o)
			}
			a.restart()
			a.synced(configMaps(2))
		}
		By("deleting them with the garbage collector")
		for _, o := range left {
			Expect(a.admin.Delete(a.ctx, o)).To(Succeed())
			a.gone(o)
		}
		a.converge(configMaps(2))
	}),
)
