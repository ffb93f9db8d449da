package engine_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("A field that a new version ignores", func() {
	DescribeTable("keeps the value that an earlier version planned", func(planned, ignored func(*appsv1.Deployment), path string, value func(*appsv1.Deployment) string, want, patch, changed string, between func(*world)) {
		w := newWorld()
		read := func() string {
			d := deployment("scaled")
			d.Namespace = w.namespace
			Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(d), d)).To(Succeed())
			return value(d)
		}
		plan := func(change func(*appsv1.Deployment), opts ...apply.ChildOption) func() apply.Plan {
			return one(func() client.Object {
				d := deployment("scaled")
				change(d)
				return d
			}, opts...)
		}
		w.converge(plan(planned))
		Expect(read()).To(Equal(want))
		between(w)
		next := plan(ignored, apply.Ignore(path))
		w.converge(next)
		Expect(read()).To(Equal(want))
		w.quiet(2, next)

		By("changing it with another manager")
		w.edit(deployment("scaled"), types.MergePatchType, patch, "autoscaler")
		w.syncedObject(deployment("scaled"))
		w.converge(next)
		Expect(read()).To(Equal(changed))
		w.restart()
		w.converge(next)
		Expect(read()).To(Equal(changed))
	},
		Entry("the replicas, after a restart", scaledTo(3), scaledTo(3), "spec.replicas", replicasOf, "3", `{"spec":{"replicas":5}}`, "5", (*world).restart),
		Entry("the replicas, in one process", scaledTo(3), scaledTo(3), "spec.replicas", replicasOf, "3", `{"spec":{"replicas":5}}`, "5", func(*world) {}),
		Entry("the replicas, with another change", scaledTo(3), func(d *appsv1.Deployment) {
			d.Spec.MinReadySeconds = 7
		}, "spec.replicas", replicasOf, "3", `{"spec":{"replicas":5}}`, "5", (*world).restart),
		Entry("all labels except the engine's", func(d *appsv1.Deployment) {
			d.Labels = map[string]string{"team": "a"}
		}, func(*appsv1.Deployment) {}, "metadata.labels", func(d *appsv1.Deployment) string { return d.Labels["team"] }, "a",
			`{"metadata":{"labels":{"team":"b"}}}`, "b", (*world).restart),
		Entry("the image of a container", func(*appsv1.Deployment) {}, func(*appsv1.Deployment) {},
			"spec.template.spec.containers[name="+deployment("").Spec.Template.Spec.Containers[0].Name+"].image",
			func(d *appsv1.Deployment) string { return d.Spec.Template.Spec.Containers[0].Image },
			deployment("").Spec.Template.Spec.Containers[0].Image,
			`{}`, deployment("").Spec.Template.Spec.Containers[0].Image, (*world).restart),
	)
})

func scaledTo(replicas int32) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { d.Spec.Replicas = &replicas }
}

func replicasOf(d *appsv1.Deployment) string { return fmt.Sprint(*d.Spec.Replicas) }
