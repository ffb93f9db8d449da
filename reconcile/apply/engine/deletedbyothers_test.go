package engine_test

import (
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("A child that another client deletes after each creation, over a longer time", func() {
	It("is reported and created again with increasing delays", func() {
		w := newWorld()
		plan := planOf(func() []client.Object { return []client.Object{configMap("cm", "1")} })
		key := client.ObjectKey{Namespace: w.namespace, Name: "cm"}
		gone := func(c client.Client) func() bool {
			return func() bool { return apierrors.IsNotFound(c.Get(w.ctx, key, &corev1.ConfigMap{})) }
		}
		var deleted *apply.DeletedByOthersError
		made := 0
		for range 10 {
			result, _ := w.pass(plan())
			if errors.As(result.Err(), &deleted) {
				break
			}
			Expect(result.Err()).NotTo(HaveOccurred())
			made++
			w.synced(plan)
			w.pass(plan()) // updates the cache
			Expect(w.admin.Delete(w.ctx, configMapIn(w.namespace, "cm"))).To(Succeed())
			Eventually(gone(w.client)).Should(BeTrue())
		}
		Expect(deleted).To(HaveOccurred())
		Expect(deleted.Name).To(Equal("cm"))
		Expect(made).To(BeNumerically("<=", 6))
		result, sent := w.pass(plan())
		Expect(errors.As(result.Err(), &deleted)).To(BeTrue())
		Expect(writes(sent)).To(BeEmpty())
		Expect(result.RequeueAfter).To(BeNumerically(">", 0))

		w.clock.Step(result.RequeueAfter + time.Second)
		result, _ = w.pass(plan())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(gone(w.admin)()).To(BeFalse())
	})

	It("is reported with a remedy if it is a Job with a TTL", func() {
		w := newWorld()
		seconds := int32(0)
		plan := planOf(func() []client.Object {
			return []client.Object{&batchv1.Job{ObjectMeta: meta("job"), Spec: batchv1.JobSpec{
				TTLSecondsAfterFinished: &seconds, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}},
				}},
			}}}
		})
		job := &batchv1.Job{}
		key := client.ObjectKey{Namespace: w.namespace, Name: "job"}
		var err error
		for range 10 {
			var result apply.Result
			if result, _ = w.pass(plan()); result.Err() != nil {
				err = result.Err()
				break
			}
			w.synced(plan)
			w.pass(plan()) // updates the cache
			Expect(w.admin.Get(w.ctx, key, job)).To(Succeed())
			Expect(w.admin.Delete(w.ctx, job, client.PropagationPolicy("Background"))).To(Succeed())
			Eventually(func() bool { return apierrors.IsNotFound(w.client.Get(w.ctx, key, &batchv1.Job{})) }).Should(BeTrue())
		}
		Expect(err).To(MatchError(And(ContainSubstring("ttlSecondsAfterFinished"), ContainSubstring("runonce"))))
	})
})

func configMapIn(namespace, name string) *corev1.ConfigMap {
	cm := configMap(name, "")
	cm.Namespace = namespace
	return cm
}
