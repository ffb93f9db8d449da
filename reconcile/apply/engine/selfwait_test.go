package engine_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("The deletion of an owner", func() {
	const foreign = "test.example.com/hold"
	hold := func(w *world, o client.Object, finalizers string) {
		GinkgoHelper()
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":`+finalizers+`}}`))
		Expect(w.admin.Patch(w.ctx, o, patch, client.FieldOwner("other"))).To(Succeed())
		if o.GetDeletionTimestamp() == nil {
			w.syncedObject(o)
		}
	}
	missing := func(w *world, o client.Object) bool {
		GinkgoHelper()
		err := w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), o)
		Expect(client.IgnoreNotFound(err)).To(Succeed())
		return apierrors.IsNotFound(err)
	}

	It("deletes the namespace of the owner after everything else, and does not wait for it", func() {
		w := newWorld()
		role := &rbacv1.ClusterRole{ObjectMeta: meta("held-" + w.namespace)}
		namespace := func() *corev1.Namespace { return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}} }
		w.converge(func() (plan apply.Plan) {
			plan.Apply(namespace(), apply.AdoptUncontrolled)
			plan.Apply(&rbacv1.ClusterRole{ObjectMeta: meta(role.Name)})
			plan.Apply(configMap("near", "1"))
			return plan
		})
		hold(w, role, `["`+foreign+`"]`)
		Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())

		By("waiting for another child")
		result, _ := w.pass(apply.Plan{})
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.Finalized).To(BeFalse())
		Eventually(func() error { result, _ = w.pass(apply.Plan{}); return result.PruneBlocked }).Should(MatchError(
			And(ContainSubstring("ClusterRole "+role.Name), ContainSubstring(foreign))))
		stored := namespace()
		Expect(missing(w, stored)).To(BeFalse())
		Expect(stored.DeletionTimestamp).To(BeNil())

		By("not waiting for the namespace")
		w.restart()
		hold(w, role, `null`)
		Eventually(func() bool { result, _ = w.pass(apply.Plan{}); return result.Finalized }).Should(BeTrue())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.PruneBlocked).NotTo(HaveOccurred())
		Expect(missing(w, &widget.Widget{ObjectMeta: w.owner.ObjectMeta})).To(BeTrue())
		Expect(missing(w, stored)).To(BeFalse())
		Expect(stored.DeletionTimestamp).NotTo(BeNil())
	})

	It("does not wait for its namespace if that is already being deleted", func() {
		w := newWorld()
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
		w.converge(one(func() client.Object {
			return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
		}, apply.AdoptUncontrolled))
		Expect(w.admin.Delete(w.ctx, namespace)).To(Succeed())
		w.syncedObject(namespace)
		Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
		result, _ := w.pass(apply.Plan{})
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.Finalized).To(BeTrue())
	})

	It("does not wait for a planned deletion of its namespace", func() {
		w := newWorld()
		w.converge(func() apply.Plan { return apply.Plan{Hold: true} })
		Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
		var plan apply.Plan
		plan.Delete(namespace, apply.Uncontrolled())
		result, _ := w.pass(plan)
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.Finalized).To(BeTrue())
		Expect(missing(w, namespace)).To(BeFalse())
		Expect(namespace.DeletionTimestamp).NotTo(BeNil())
	})

	It("does not wait for the CRD of its kind", func() {
		w := newWorld()
		crd := func() *apiextensionsv1.CustomResourceDefinition {
			crd := widget.CRD()
			crd.Name = "selfish." + crd.Spec.Group
			crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
				Kind: "Selfish", ListKind: "SelfishList", Plural: "selfish", Singular: "selfish",
			}
			return crd
		}
		created := crd()
		Expect(w.admin.Create(w.ctx, created)).To(Succeed())
		owner := &unstructured.Unstructured{}
		owner.SetAPIVersion(widget.GroupVersion.String())
		owner.SetKind("Selfish")
		owner.SetName("owner")
		owner.SetNamespace(w.namespace)
		Eventually(func() error { return w.admin.Create(w.ctx, owner) }).Should(Succeed())
		plan := one(func() client.Object { return crd() }, apply.AdoptUncontrolled)
		pass := func(plan apply.Plan) apply.Result {
			Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(owner), owner)).To(Succeed())
			return w.engine.Apply(w.ctx, owner.DeepCopy(), plan)
		}
		Expect(pass(plan()).Err()).NotTo(HaveOccurred())
		w.syncedObject(created)
		Expect(pass(plan()).Err()).NotTo(HaveOccurred())
		Expect(w.admin.Delete(w.ctx, owner)).To(Succeed())
		result := pass(apply.Plan{})
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.Finalized).To(BeTrue())
		Eventually(func() bool { return missing(w, created) }).Should(BeTrue())
	})

	It("deletes children in its namespace while a child elsewhere holds a finalizer", func() {
		w := newWorld()
		role := &rbacv1.ClusterRole{ObjectMeta: meta("waits-" + w.namespace)}
		account := func() *corev1.ServiceAccount {
			return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "account", Namespace: w.namespace}}
		}
		near := configMap("near", "1")
		near.Namespace = w.namespace
		w.converge(func() (plan apply.Plan) {
			plan.Apply(&rbacv1.ClusterRole{ObjectMeta: meta(role.Name)})
			plan.Apply(configMap("near", "1"))
			plan.Apply(&corev1.ServiceAccount{ObjectMeta: meta("account")})
			return plan
		})
		hold(w, role, `["`+foreign+`"]`)
		hold(w, near, `["`+foreign+`"]`)
		Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
		Eventually(func() bool { w.pass(apply.Plan{}); missing(w, near); return near.DeletionTimestamp != nil }).Should(BeTrue())
		w.syncedObject(near)
		result, _ := w.pass(apply.Plan{})
		Expect(result.PruneBlocked).To(MatchError(And(ContainSubstring("ClusterRole "+role.Name), ContainSubstring("near"))))
		Expect(missing(w, account())).To(BeFalse(), "the program that removes the finalizer may need it")
		w.clock.Step(time.Hour)
		Eventually(func() bool { w.pass(apply.Plan{}); return missing(w, account()) }).Should(BeTrue())

		By("waiting only for the child in the other namespace")
		hold(w, role, `null`)
		Eventually(func() bool { result, _ = w.pass(apply.Plan{}); return result.Finalized }).Should(BeTrue())
	})
})
