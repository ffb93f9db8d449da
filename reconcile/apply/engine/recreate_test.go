package engine_test

import (
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

func database(size string) client.Object {
	labels := map[string]string{"app": "db"}
	return &appsv1.StatefulSet{ObjectMeta: meta("db"), Spec: appsv1.StatefulSetSpec{
		ServiceName: "db", Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		},
		PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType},
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
		}}},
	}}
}

var _ = Describe("A recreation", func() {
	It("keeps the Pods and claims of a StatefulSet", func() {
		w := newWorld()
		w.converge(one(func() client.Object { return database("1Gi") }))
		result, _ := w.pass(one(func() client.Object { return database("2Gi") }, apply.Recreate())())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.Objects[0].Outcome).To(BeEquivalentTo(apply.OutcomeDeleted))
		stored := &appsv1.StatefulSet{}
		Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "db"}, stored)).To(Succeed())
		Expect(stored.Finalizers).To(ConsistOf(metav1.FinalizerOrphanDependents))
	})

	It("of an object with data waits until the owner allows it", func() {
		w := newWorld()
		w.converge(one(func() client.Object { return database("1Gi") }))
		plan := one(func() client.Object { return database("2Gi") }, apply.Recreate(apply.PropagationPolicy(metav1.DeletePropagationBackground)))
		var blocked *apply.RecreateBlockedError
		for range 2 {
			result, sent := w.pass(plan())
			Expect(writes(sent)).NotTo(ContainElement(HavePrefix("DELETE ")))
			Expect(errors.As(result.Err(), &blocked)).To(BeTrue(), "%v", result.Err())
			Expect(apierrors.IsInvalid(blocked)).To(BeTrue())
		}
		owner := w.stored()
		Expect(w.admin.Patch(w.ctx, owner, client.RawPatch(types.MergePatchType,
			[]byte(`{"metadata":{"annotations":{"`+blocked.Annotation+`":"`+blocked.Token+`"}}}`)))).To(Succeed())
		result, _ := w.pass(plan())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.Objects[0].Outcome).To(BeEquivalentTo(apply.OutcomeDeleted))
		Eventually(func() error { // while the cache contains the deleted object, a reconciliation sends nothing
			return w.client.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "db"}, &appsv1.StatefulSet{})
		}).Should(MatchError(apierrors.IsNotFound, "IsNotFound"))
		w.converge(plan)
	})

	It("reports why the API server rejects the new object", func() {
		w := newWorld()
		immutable := func(class string) func() client.Object {
			return func() client.Object { return &corev1.Secret{ObjectMeta: meta("typed"), Type: corev1.SecretType(class)} }
		}
		w.converge(one(immutable("a")))
		quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "full", Namespace: w.namespace}, Spec: corev1.ResourceQuotaSpec{
			Hard: corev1.ResourceList{corev1.ResourceSecrets: resource.MustParse("1")},
		}}
		Expect(w.admin.Create(w.ctx, quota)).To(Succeed())
		quota.Status = corev1.ResourceQuotaStatus{Hard: quota.Spec.Hard, Used: quota.Spec.Hard}
		Expect(w.admin.Status().Update(w.ctx, quota)).To(Succeed())
		Eventually(func(g Gomega) {
			w.clock.Step(w.options.ContestInterval + 10*60*1e9)
			result, sent := w.pass(one(immutable("b"), apply.Recreate())())
			g.Expect(writes(sent)).NotTo(ContainElement(HavePrefix("DELETE ")))
			g.Expect(apierrors.IsForbidden(result.Err())).To(BeTrue(), "%v", result.Err())
		}).Should(Succeed())
	})
})
