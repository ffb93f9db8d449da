package engine_test

import (
	"errors"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

const adoptRestored = "reconcilekit.dev/adopt-restored"

// restoring describes which metadata a backup tool keeps.
type restoring struct {
	references bool // owner references, with the UIDs of the former owners
	managers   bool // managedFields
	labels     bool // the tool adds its own labels
	namespace  string
}

// restore deletes an object and creates it again like a restore from a backup.
func (w *world) restore(o client.Object, how restoring) client.Object {
	GinkgoHelper()
	if o.GetNamespace() == "" {
		if namespaced, err := w.admin.IsObjectNamespaced(o); err == nil && namespaced {
			o.SetNamespace(w.namespace)
		}
	}
	Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
	backup := o.DeepCopyObject().(client.Object)
	if how.namespace == "" {
		if len(o.GetFinalizers()) > 0 {
			o.SetFinalizers(nil)
			Expect(w.admin.Update(w.ctx, o)).To(Succeed())
		}
		Expect(client.IgnoreNotFound(w.admin.Delete(w.ctx, o))).To(Succeed())
	} else {
		backup.SetNamespace(how.namespace)
	}
	entries := backup.GetManagedFields()
	backup.SetUID("")
	backup.SetResourceVersion("")
	backup.SetManagedFields(nil)
	backup.SetCreationTimestamp(metav1.Time{})
	if !how.references {
		backup.SetOwnerReferences(nil)
	}
	if how.labels {
		labels := backup.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels["velero.io/backup-name"], labels["velero.io/restore-name"] = "nightly", "restore-1"
		backup.SetLabels(labels)
	}
	Expect(w.admin.Create(w.ctx, backup, client.FieldOwner("velero-server"))).To(Succeed())
	if how.managers {
		backup.SetManagedFields(entries)
		Expect(w.admin.Update(w.ctx, backup, client.FieldOwner("velero-server"))).To(Succeed())
	}
	return backup
}

// restoreOwner restores the owner in the namespace of how, and uses it from then on.
func (w *world) restoreOwner(how restoring) {
	GinkgoHelper()
	w.owner = w.restore(w.stored(), how).(*widget.Widget)
	w.namespace = w.owner.Namespace
}

// tokenOf returns the token for the children from a backup in the result, and the number of errors with it.
func tokenOf(result apply.Result) (string, int) {
	token, n := "", 0
	for _, o := range result.Objects {
		var owned *apply.OwnedByAnotherError
		if errors.As(o.Err, &owned) && owned.Token != "" {
			Expect(owned.Annotation).To(Equal(adoptRestored))
			Expect(owned.Error()).To(ContainSubstring(owned.Annotation + "=" + owned.Token))
			Expect(token).To(Or(BeEmpty(), Equal(owned.Token)), "one token for all")
			token = owned.Token
			n++
		}
	}
	return token, n
}

// unproven returns the part of the condition about objects without proof, or nil.
func unproven(result apply.Result) *apply.PruneBlockedError {
	if result.PruneBlocked == nil {
		return nil
	}
	for _, e := range append([]*apply.PruneBlockedError{result.PruneBlocked}, result.PruneBlocked.Further...) {
		if e.Reason == apply.ReasonUnproven {
			return e
		}
	}
	return nil
}

// resetManagers resets the managedFields of an object, like a tool that does not support them.
func (w *world) resetManagers(o client.Object) {
	GinkgoHelper()
	w.exists(o)
	Expect(w.admin.Patch(w.ctx, o, client.RawPatch(types.MergePatchType, []byte(wipedManagedFields)))).To(Succeed())
	Expect(o.GetManagedFields()).To(BeEmpty())
}

// finalize deletes the owner and runs n reconciliations.
func (w *world) finalize(n int) apply.Result {
	GinkgoHelper()
	Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
	return w.finalizing(n)
}

func (w *world) finalizing(n int) (result apply.Result) {
	GinkgoHelper()
	for range n {
		current := &widget.Widget{}
		if err := w.admin.Get(w.ctx, client.ObjectKeyFromObject(w.owner), current); apierrors.IsNotFound(err) {
			return result
		}
		result = w.engine.Apply(w.ctx, current, apply.Plan{})
	}
	return result
}

var _ = Describe("Children restored from a backup", func() {
	secret := func() client.Object {
		return &corev1.Secret{ObjectMeta: meta("password"), StringData: map[string]string{"value": "first"}}
	}
	plan := func() apply.Plan {
		var p apply.Plan
		p.Apply(configMap("a", "1"))
		p.Apply(configMap("b", "2"))
		next := secret().(*corev1.Secret)
		next.StringData["value"] = "generated again"
		p.Apply(next, apply.Once)
		return p
	}
	first := func() apply.Plan {
		var p apply.Plan
		p.Apply(configMap("a", "1"))
		p.Apply(configMap("b", "2"))
		p.Apply(secret(), apply.Once)
		return p
	}
	children := func() []client.Object { return []client.Object{configMap("a", ""), configMap("b", ""), secret()} }

	for name, tc := range map[string]struct {
		how   restoring
		owner bool // whether the owner was restored, too
		asks  int  // number of children that need the annotation
	}{
		"without references and managedFields":            {how: restoring{}, owner: true, asks: 2},
		"by a tool that adds labels":                      {how: restoring{labels: true}, owner: true, asks: 2},
		"with references to the former owner":             {how: restoring{references: true}, owner: true, asks: 3},
		"with all metadata":                               {how: restoring{references: true, managers: true, labels: true}, owner: true, asks: 3},
		"without references":                              {how: restoring{managers: true}, owner: true},
		"without the owner":                               {how: restoring{}, asks: 2},
		"without the owner, with references":              {how: restoring{references: true}},
		"into another namespace":                          {how: restoring{namespace: "new"}, owner: true, asks: 2},
		"into another namespace with all metadata":        {how: restoring{namespace: "new", references: true, managers: true}, owner: true, asks: 3},
		"into another namespace, with managedFields only": {how: restoring{namespace: "new", managers: true}, owner: true, asks: 2},
	} {
		It(name+" are kept until one annotation permits their adoption", func() {
			w := newWorld()
			w.converge(first)
			w.stop()
			how := tc.how
			if how.namespace != "" {
				ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "apply-restored-"}}
				Expect(w.admin.Create(w.ctx, ns)).To(Succeed())
				how.namespace = ns.Name
			}
			restored := map[string]types.UID{}
			for _, o := range children() {
				o = w.restore(o, how)
				restored[o.GetName()] = o.GetUID()
			}
			if tc.owner {
				w.restoreOwner(how)
			}
			w.start()
			var result apply.Result
			w.synced(plan)
			for range 3 {
				result, _ = w.pass(plan())
			}
			token, asks := tokenOf(result)
			Expect(asks).To(Equal(tc.asks), "%v; %v", result.Err(), result.PruneBlocked)
			if lost := unproven(result); lost != nil {
				Expect(lost.Objects).To(ConsistOf("Secret " + w.namespace + "/password"))
				Expect(token).To(Or(BeEmpty(), Equal(lost.Token)), "one token for all")
				token = lost.Token
			}
			if asks > 0 {
				By("setting a wrong token")
				w.annotate(adoptRestored, strings.Repeat("0", len(token)))
				result, _ = w.pass(plan())
				_, again := tokenOf(result)
				Expect(again).To(Equal(tc.asks))
			}
			if token != "" {
				w.annotate(adoptRestored, token)
			}
			w.converge(plan)
			for _, o := range children() {
				o.SetNamespace(w.namespace)
				Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
				Expect(o.GetUID()).To(Equal(restored[o.GetName()]), "not replaced")
				if o.GetName() != "password" || token != "" {
					Expect(metav1.IsControlledBy(o, w.stored())).To(BeTrue(), "%s", o.GetName())
					Expect(o.GetOwnerReferences()).To(HaveLen(1))
				}
				if tc.how.labels {
					Expect(o.GetLabels()).To(HaveKeyWithValue("velero.io/restore-name", "restore-1"))
				}
				if s, ok := o.(*corev1.Secret); ok {
					Expect(string(s.Data["value"])).To(Equal("first"))
				}
			}
			w.quiet(2, plan)
			result, _ = w.pass(plan())
			Expect(result.PruneBlocked).NotTo(HaveOccurred())

			By("restarting the process after the adoption")
			w.restart()
			w.synced(plan)
			w.touchSpec()
			w.converge(planOf(func() []client.Object { return []client.Object{configMap("a", "changed")} }))
			Expect(w.names()).To(Equal([]string{"a"}))
		})
	}
})

var _ = Describe("A child that garbage collection does not delete", func() {
	for _, restored := range []bool{false, true} {
		It(fmt.Sprintf("and whose proof is lost delays the deletion of the owner until the annotation permits it (restored: %t)", restored), func() {
			w := newWorld(declared)
			other := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "apply-far-"}}
			Expect(w.admin.Create(w.ctx, other)).To(Succeed())
			far := func() client.Object {
				o := configMap("far", "1")
				o.Namespace = other.Name
				return o
			}
			role := func() client.Object { return &rbacv1.ClusterRole{ObjectMeta: meta("lost-" + w.owner.Namespace)} }
			all := planOf(func() []client.Object { return []client.Object{configMap("near", "1"), far(), role()} })
			w.converge(all)
			w.stop()
			if restored {
				w.restore(far(), restoring{labels: true})
				w.restore(role(), restoring{labels: true})
				w.restoreOwner(restoring{})
			} else {
				for _, o := range []client.Object{far(), role(), w.stored()} {
					w.resetManagers(o)
				}
			}
			w.start()
			w.syncedObject(role())
			w.syncedObject(far())
			result := w.finalize(3)
			lost := unproven(result)
			Expect(lost).To(HaveOccurred(), "%v", result.PruneBlocked)
			Expect(lost.Objects).To(ConsistOf("ClusterRole "+role().GetName(), "ConfigMap "+other.Name+"/far"))
			Expect(result.Finalized).To(BeFalse())
			Expect(w.exists(far())).To(BeTrue())
			Expect(w.exists(role())).To(BeTrue())
			By("deleting one of them as the administrator")
			Expect(w.admin.Delete(w.ctx, far())).To(Succeed())
			w.gone(far())
			result = w.finalizing(2)
			lost = unproven(result)
			Expect(lost.Objects).To(ConsistOf("ClusterRole " + role().GetName()))
			By("permitting the deletion of the other")
			w.annotate(adoptRestored, lost.Token)
			Eventually(func() bool { return w.finalizing(1).Finalized || !w.exists(w.owner.DeepCopyObject().(client.Object)) }).Should(BeTrue())
			Expect(w.exists(role())).To(BeFalse())
		})
	}

	It("and whose proof is lost is kept when it leaves the plan, and is named", func() {
		w := newWorld(declared)
		role := func() client.Object { return &rbacv1.ClusterRole{ObjectMeta: meta("lost-" + w.owner.Namespace)} }
		near := planOf(func() []client.Object { return []client.Object{configMap("near", "1")} })
		w.converge(planOf(func() []client.Object { return []client.Object{configMap("near", "1"), role()} }))
		w.stop()
		w.resetManagers(role())
		w.start()
		w.syncedObject(role())
		w.touchSpec()
		result, _ := w.pass(near())
		lost := unproven(result)
		Expect(lost).To(HaveOccurred())
		Expect(lost.Objects).To(ConsistOf("ClusterRole " + role().GetName()))
		Expect(w.exists(role())).To(BeTrue())
		w.annotate(adoptRestored, lost.Token)
		w.converge(near)
		Expect(w.exists(role())).To(BeFalse())
		Expect(w.stored().Finalizers).To(BeEmpty())
	})
})

var _ = Describe("A shared object whose managedFields are lost", func() {
	role := func(w *world) client.Object {
		return &rbacv1.ClusterRole{ObjectMeta: meta("shared-" + w.owner.Namespace)}
	}
	It("delays the deletion of an owner until the annotation permits it", func() {
		w := newWorld(declared)
		plan := one(func() client.Object { return role(w) }, apply.Shared)
		w.converge(plan)
		w.stop()
		w.resetManagers(role(w))
		w.resetManagers(w.stored())
		w.start()
		w.syncedObject(role(w))
		result := w.finalize(3)
		lost := unproven(result)
		Expect(lost).To(HaveOccurred(), "%v", result.PruneBlocked)
		Expect(lost.Objects).To(ConsistOf("ClusterRole " + role(w).GetName()))
		Expect(result.Finalized).To(BeFalse())
		Expect(w.exists(role(w))).To(BeTrue())
		w.annotate(adoptRestored, lost.Token)
		Eventually(func() bool { return w.finalizing(1).Finalized || !w.exists(w.owner.DeepCopyObject().(client.Object)) }).Should(BeTrue())
		Expect(w.exists(role(w))).To(BeFalse())
	})

	It("is shared again if the annotation permits it", func() {
		w := newWorld(declared)
		plan := one(func() client.Object { return role(w) }, apply.Shared)
		w.converge(plan)
		w.stop()
		w.restore(role(w), restoring{labels: true})
		w.start()
		w.syncedObject(role(w))
		result, _ := w.pass(plan())
		token, asks := tokenOf(result)
		Expect(asks).To(Equal(1), "%v", result.Err())
		w.annotate(adoptRestored, token)
		w.converge(plan)
		Eventually(func() bool { return w.finalize(1).Finalized }).Should(BeTrue())
		Expect(w.exists(role(w))).To(BeFalse())
	})
})
