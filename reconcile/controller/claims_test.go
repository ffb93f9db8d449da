package controller_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health/inspect"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// planVolume plans a claim that may grow. The size comes from the spec, and the storage class is set only at creation.
func planVolume(_ context.Context, rc reconcile.ReconcileContext[*widget.Widget]) (plan reconcile.PlanResult, _ error) {
	class := rc.Object.Labels["class"]
	size, err := resource.ParseQuantity(rc.Object.Spec.Message)
	if err != nil {
		return plan, err
	}
	plan.Apply(&corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: rc.Object.Namespace, Name: rc.Object.Name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: &class,
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
		},
	}, apply.CreateOnly("spec.accessModes", "spec.storageClassName"), apply.Retained)
	return plan, nil
}

var _ = Describe("A PersistentVolumeClaim that may grow", func() {
	It("is bound, grows if its storage class allows it, and never shrinks", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		for name, expands := range map[string]bool{namespace + "-fixed": false, namespace + "-grows": true} {
			Expect(c.Create(ctx, &storagev1.StorageClass{
				ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: "example.com/disks", AllowVolumeExpansion: &expands,
			})).To(Succeed())
		}
		declared := controller.Func("claims", planVolume).Writes(&corev1.PersistentVolumeClaim{}, controller.NeverDeletes,
			controller.Inspector(inspect.Of[*corev1.PersistentVolumeClaim])).Options(settings()).Build()
		runs{}.start(namespace, declared.SetupWithManager)

		owner := func(name, class string) *widget.Widget {
			w := newWidget(namespace, name)
			w.Labels, w.Spec.Message = map[string]string{"class": class}, "1Gi"
			Expect(c.Create(ctx, w)).To(Succeed())
			return w
		}
		reported := func(w *widget.Widget, of string) func() string {
			return func() string {
				Expect(c.Get(ctx, client.ObjectKeyFromObject(w), w)).To(Succeed())
				found := meta.FindStatusCondition(w.Status.Conditions, of)
				if found == nil {
					return ""
				}
				return found.Reason + ": " + found.Message
			}
		}
		resize := func(w *widget.Widget, size string) {
			GinkgoHelper()
			Expect(change(ctx, c, w, func(o *widget.Widget) { o.Spec.Message = size })).To(Succeed())
		}
		// bind acts as the volume controller.
		bind := func(w *widget.Widget, size string) {
			GinkgoHelper()
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: w.Name}}
			Expect(c.Get(ctx, client.ObjectKeyFromObject(claim), claim)).To(Succeed())
			claim.Status.Phase, claim.Status.Capacity = corev1.ClaimBound, corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
			Expect(c.Status().Update(ctx, claim)).To(Succeed())
		}
		const claimReady = "PersistentVolumeClaimReady"
		grows, fixed := owner("grows", namespace+"-grows"), owner("fixed", namespace+"-fixed")
		Eventually(reported(grows, claimReady)).WithTimeout(soon).Should(Equal("PvcPending: grows: PVC is pending"))
		Eventually(reported(fixed, claimReady)).WithTimeout(soon).Should(Equal("PvcPending: fixed: PVC is pending"))

		By("requesting more before it is bound")
		resize(grows, "2Gi")
		Eventually(reported(grows, conditions.Ready)).WithTimeout(soon).Should(ContainSubstring("spec is immutable after creation"))
		resize(grows, "1Gi")
		bind(grows, "1Gi")
		bind(fixed, "1Gi")
		Eventually(reported(grows, claimReady)).WithTimeout(soon).Should(Equal("PvcBound: PVC is bound"))
		Eventually(reported(fixed, claimReady)).WithTimeout(soon).Should(Equal("PvcBound: PVC is bound"))

		By("requesting more")
		resize(grows, "2Gi")
		Eventually(reported(grows, claimReady)).WithTimeout(soon).Should(Equal("PvcResizing: grows: PVC has 1Gi of 2Gi"))
		bind(grows, "2Gi")
		Eventually(reported(grows, claimReady)).WithTimeout(soon).Should(Equal("PvcBound: PVC is bound"))

		By("requesting less")
		resize(grows, "1Gi")
		Eventually(reported(grows, conditions.Ready)).WithTimeout(soon).Should(ContainSubstring("field can not be less than status.capacity"))

		By("requesting more with a storage class that does not allow it")
		resize(fixed, "2Gi")
		Eventually(reported(fixed, conditions.Ready)).WithTimeout(soon).Should(ContainSubstring("the storageclass that provisions the pvc must support resize"))

		By("changing the storage class")
		Expect(change(ctx, c, grows, func(o *widget.Widget) { o.Labels["class"], o.Spec.Message = "other", "3Gi" })).To(Succeed())
		Eventually(reported(grows, claimReady)).WithTimeout(soon).Should(Equal("PvcResizing: grows: PVC has 2Gi of 3Gi"))
	})
})
