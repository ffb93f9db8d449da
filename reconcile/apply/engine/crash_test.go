package engine_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

var errCrash = errors.New("crashed")

// crashRun converges, removes children and changes a kind, in several reconciliations. After n requests
// no request reaches the API server, whether or not it performed the last one.
// Then a new process takes over.
func (w *world) crashRun(n int, commit bool) bool {
	GinkgoHelper()
	var crashed atomic.Bool
	w.requests.fail = crashAfter(int64(n), commit, &crashed)
	for i, plan := range crashPlans() {
		if i > 0 {
			w.touchSpec()
		}
		for range 3 {
			w.passWithStatus(plan())
			if !crashed.Load() {
				continue
			}
			By(fmt.Sprintf("crash at request %d, carried out: %v", n, commit))
			w.checkTracked()
			w.restart()
			break
		}
		w.settle(plan)
	}
	return crashed.Load()
}

// crashAfter accepts n requests. The last one is only performed if commit is true.
func crashAfter(n int64, commit bool, crashed *atomic.Bool) func(int, *http.Request) error {
	var total atomic.Int64
	return func(int, *http.Request) error {
		sent := total.Add(1)
		if sent > n || (sent == n && !commit) {
			crashed.Store(true)
			return errCrash
		}
		return nil
	}
}

func crashPlans() []func() apply.Plan {
	return []func() apply.Plan{
		planOf(func() []client.Object {
			return []client.Object{configMap("a", "1"), configMap("b", "1"), &corev1.Secret{ObjectMeta: meta("c")}, &corev1.ServiceAccount{ObjectMeta: meta("d")}}
		}),
		planOf(func() []client.Object {
			return []client.Object{configMap("a", "2"), &corev1.Service{ObjectMeta: meta("e"), Spec: servicePort()}}
		}),
	}
}

func servicePort() corev1.ServiceSpec {
	return corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}
}

// passWithStatus runs a reconciliation with a status write. Before each plan, the spec
// changes.
func (w *world) passWithStatus(set apply.Plan) apply.Result {
	GinkgoHelper()
	current := w.stored()
	result := w.engine.Apply(w.ctx, current, set)
	after := current.DeepCopyObject().(*widget.Widget)
	if result.Err() == nil {
		after.Status.ObservedGeneration = after.Generation
	}
	_, _ = w.status.WriteStatus(w.ctx, current, after, nil)
	return result
}

func (w *world) settle(plan func() apply.Plan) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		w.requests.take()
		result := w.passWithStatus(plan())
		g.Expect(result.Err()).NotTo(HaveOccurred())
		g.Expect(result.PruneBlocked).ToNot(HaveOccurred())
		g.Expect(writes(w.requests.take())).To(BeEmpty())
		g.Expect(awaited(result)).To(BeEmpty())
	}).Should(Succeed())
}

// members returns the names of all children, by kind.
func (w *world) members(selector ...client.ListOption) []string {
	GinkgoHelper()
	var out []string
	for _, list := range []client.ObjectList{&corev1.ConfigMapList{}, &corev1.SecretList{}, &corev1.ServiceAccountList{}, &corev1.ServiceList{}} {
		Expect(w.admin.List(w.ctx, list, append(selector, client.InNamespace(w.namespace))...)).To(Succeed())
		switch l := list.(type) {
		case *corev1.ConfigMapList:
			for _, o := range l.Items {
				out = append(out, "ConfigMap "+o.Name)
			}
		case *corev1.SecretList:
			for _, o := range l.Items {
				out = append(out, "Secret "+o.Name)
			}
		case *corev1.ServiceAccountList:
			for _, o := range l.Items {
				out = append(out, "ServiceAccount "+o.Name)
			}
		case *corev1.ServiceList:
			for _, o := range l.Items {
				out = append(out, "Service "+o.Name)
			}
		}
	}
	return out
}

// checkTracked expects that every child that exists is of a kind in the
// inventory, so that a later process can find it.
func (w *world) checkTracked() {
	GinkgoHelper()
	recorded := w.stored().Annotations[applyset.GroupKindsAnnotation]
	for _, name := range w.members(client.HasLabels{applyset.PartOfLabel}) {
		var kind string
		_, err := fmt.Sscanf(name, "%s", &kind)
		Expect(err).NotTo(HaveOccurred())
		Expect(","+recorded+",").To(ContainSubstring(","+kind+","), name)
	}
}

var _ = Describe("A crash", func() {
	for _, commit := range []bool{false, true} {
		It(fmt.Sprintf("at any request leads to the same final state (last request performed: %v)", commit), func() {
			for n := 1; ; n++ {
				Expect(n).To(BeNumerically("<", 100))
				w := newWorld()
				crashed := w.crashRun(n, commit)
				Expect(w.members(client.HasLabels{applyset.PartOfLabel})).To(ConsistOf("ConfigMap a", "Service e"))
				Expect(w.stored().Annotations).To(HaveKeyWithValue(applyset.GroupKindsAnnotation, "ConfigMap,Service"))
				w.stop()
				if !crashed {
					break
				}
			}
		})
	}
})

var _ = Describe("The owner after an apply", func() {
	It("has the metadata that the engine wrote, so that the status can be written in the same reconciliation", func() {
		w := newWorld()
		owner := w.stored()
		Expect(w.engine.Apply(w.ctx, owner, configMaps(1)()).Err()).NotTo(HaveOccurred())
		Expect(owner.ResourceVersion).To(Equal(w.stored().ResourceVersion))
		after := owner.DeepCopyObject().(*widget.Widget)
		after.Status.Count = 1
		_, err := w.status.WriteStatus(w.ctx, owner, after, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(w.stored().Status.Count).To(Equal(1))
	})
})
