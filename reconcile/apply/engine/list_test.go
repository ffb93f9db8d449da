package engine_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// listless is a cached client whose lists fail while its error is set.
type listless struct {
	client.Client

	err error
}

func (c *listless) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if c.err != nil {
		return c.err
	}
	return c.Client.List(ctx, list, opts...)
}

var _ = Describe("A failed list of the engine", func() {
	broken := errors.New("no answer")
	account := func() client.Object { return &corev1.ServiceAccount{ObjectMeta: meta("sa")} }
	blocked := func(result apply.Result, times int) {
		GinkgoHelper()
		Expect(result.PruneBlocked).To(HaveOccurred())
		Expect(result.PruneBlocked.Reason).To(Equal(apply.ReasonPruneFailed))
		Expect(result.PruneBlocked).To(MatchError(broken))
		Expect(result.RequeueAfter).To(Equal(time.Second<<times), "nothing else wakes the owner")
	}
	accounts := func(w *world) []corev1.ServiceAccount {
		GinkgoHelper()
		var list corev1.ServiceAccountList
		Expect(w.admin.List(w.ctx, &list, client.InNamespace(w.namespace), client.HasLabels{applyset.PartOfLabel})).To(Succeed())
		return list.Items
	}

	It("from the API server, of a kind that left the plan, blocks the prune of only that kind", func() {
		w := newWorld()
		w.converge(planOf(func() []client.Object {
			return []client.Object{configMap("a", "1"), configMap("b", "1"), account()}
		}))
		rest := planOf(func() []client.Object { return []client.Object{configMap("a", "1")} })
		lists := 0
		w.requests.fail = func(_ int, r *http.Request) error {
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/serviceaccounts") {
				lists++
				return broken
			}
			return nil
		}
		for i := range 3 {
			result, sent := w.pass(rest())
			blocked(result, i)
			Expect(result.PruneBlocked.Error()).To(ContainSubstring("list ServiceAccount"))
			Expect(writes(sent)).To(HaveLen(max(0, 1-i)), "%v", sent)
		}
		Expect(lists).To(Equal(3))
		Expect(w.names()).To(ConsistOf("a"), "a kind that could be listed waits for no other one")
		Expect(accounts(w)).To(HaveLen(1))
		Expect(w.stored().Annotations).To(HaveKeyWithValue(applyset.GroupKindsAnnotation, "ConfigMap,ServiceAccount"))

		By("listing from the API server again")
		w.requests.fail = nil
		w.converge(rest)
		Expect(w.names()).To(ConsistOf("a"))
		Expect(accounts(w)).To(BeEmpty())
	})

	It("from the cache, of a planned kind, blocks its prune", func() {
		w := newWorld()
		w.converge(configMaps(3))
		w.clock.Step(time.Minute) // the plan must be newer than its children, whose creation times have seconds
		faulty := &listless{Client: w.client, err: broken}
		var err error
		w.engine, err = engine.New(faulty, w.client, w.options) // like a restart
		Expect(err).NotTo(HaveOccurred())
		for i := range 3 {
			result, sent := w.pass(configMaps(2)())
			blocked(result, i)
			Expect(result.PruneBlocked.Error()).To(ContainSubstring("list ConfigMap"))
			Expect(sent).To(BeEmpty())
		}
		Expect(w.names()).To(HaveLen(3))

		By("listing from the cache again")
		faulty.err = nil
		w.converge(configMaps(2))
		Expect(w.names()).To(ConsistOf("cm-0", "cm-1"))
	})

	It("delays the deletion of an owner, and is retried", func() {
		w := newWorld()
		role := func() client.Object { return &rbacv1.ClusterRole{ObjectMeta: meta("listed-" + w.namespace)} }
		w.converge(planOf(func() []client.Object { return []client.Object{role()} }))
		Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
		w.requests.fail = func(_ int, r *http.Request) error {
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/clusterroles") {
				return broken
			}
			return nil
		}
		result, sent := w.pass(apply.Plan{})
		blocked(result, 0)
		Expect(result.Finalized).To(BeFalse())
		Expect(writes(sent)).To(BeEmpty())
		Expect(w.stored().Finalizers).To(HaveLen(1))
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(role()), &rbacv1.ClusterRole{})).To(Succeed())

		w.requests.fail = nil
		result, _ = w.pass(apply.Plan{})
		Expect(result.Finalized).To(BeTrue())
	})
})
