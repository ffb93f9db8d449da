package engine_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// ahead is a client whose writes return resourceVersions that the API server does not reach soon. A process
// has such versions if it wrote to a cluster that is restored from a backup afterwards.
type ahead struct {
	client.Client
	on bool
}

func (a *ahead) Patch(ctx context.Context, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
	err := a.Client.Patch(ctx, o, patch, opts...)
	if err == nil && a.on {
		o.SetResourceVersion("9000000000000")
	}
	return err
}

var _ = Describe("An owner whose cache does not contain the engine's write", func() {
	var w *world
	var far *corev1.Namespace
	var plan func() apply.Plan
	BeforeEach(func() {
		w = newWorld()
		far = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "apply-far-"}}
		Expect(w.admin.Create(w.ctx, far)).To(Succeed())
		plan = planOf(func() []client.Object {
			o := configMap("far", "1")
			o.Namespace = far.Name
			return []client.Object{configMap("near", "1"), o}
		})
	})

	It("is read from the API server after the deadline, because it may be restored from a backup", func() {
		view := &ahead{Client: w.client}
		live, err := client.New(w.cacheless, client.Options{Scheme: scheme})
		Expect(err).NotTo(HaveOccurred())
		w.engine, err = engine.New(view, live, w.options)
		Expect(err).NotTo(HaveOccurred())
		w.converge(named("near"))
		before := w.stored()
		view.on = true
		result, _ := w.pass(plan())
		Expect(result.Err()).NotTo(HaveOccurred())
		view.on = false

		restored := w.stored()
		restored.Annotations, restored.Finalizers = before.Annotations, before.Finalizers
		Expect(w.admin.Update(w.ctx, restored)).To(Succeed())
		w.clock.Step(11 * time.Second)
		w.converge(plan)
		Expect(w.stored().Finalizers).To(HaveLen(1))
		Expect(w.stored().Annotations).To(HaveKeyWithValue(applyset.NamespacesAnnotation, far.Name))
	})

	It("is read once per deadline, without a write", func() {
		w.converge(named("near"))
		old := w.stored()
		w.converge(plan)
		for range 3 {
			w.clock.Step(11 * time.Second)
			w.requests.take()
			result := w.engine.Apply(w.ctx, old.DeepCopyObject().(*widget.Widget), plan())
			Expect(result.Err()).NotTo(HaveOccurred())
			result = w.engine.Apply(w.ctx, old.DeepCopyObject().(*widget.Widget), plan())
			Expect(result.Err()).NotTo(HaveOccurred())
			Expect(w.requests.take()).To(ConsistOf("GET /apis/test.reconcilekit.dev/v1/namespaces/" + w.namespace + "/widgets/owner"))
		}
	})
})
