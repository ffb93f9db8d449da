package engine_test

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// audited impersonates a separate user for the engine and its cache, so that the API
// server logs their requests under that user.
func audited(w *world) { w.user = "engine-" + strconv.FormatInt(w.clock.Now().UnixNano(), 36) }

// auditLog returns the audit log from now on.
func auditLog() *environment.AuditLog {
	GinkgoHelper()
	log, err := env.AuditLog()
	Expect(err).NotTo(HaveOccurred())
	Expect(log.Reset()).To(Succeed())
	return log
}

// logged returns the requests of the engine, without its watches.
func (w *world) logged(log *environment.AuditLog) environment.AuditEntries {
	GinkgoHelper()
	entries, err := log.Entries(environment.User(w.user),
		environment.Asked(func(r requests.Request) bool { return r.Verb != "watch" }))
	Expect(err).NotTo(HaveOccurred())
	return entries
}

var _ = Describe("The audit log", func() {
	It("contains no request for 200 reconciliations of 50 children in steady state", func() {
		w := newWorld(audited)
		plan := func() apply.Plan {
			var s apply.Plan
			for i := range 50 {
				s.Apply(configMap(fmt.Sprintf("cm-%02d", i), "x"))
			}
			return s
		}
		log := auditLog()
		result, sent := w.pass(plan())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(w.logged(log).Requests().Writes()).To(HaveLen(len(writes(sent))), "the log sees what the engine writes")
		w.synced(plan)

		Expect(log.Reset()).To(Succeed())
		w.quiet(200, plan)
		Expect(w.logged(log)).To(BeEmpty())

		By("changing the plan")
		w.edit(configMap("cm-07", ""), types.MergePatchType, `{"data":{"value":"theirs"}}`, "kubectl-edit")
		_, sent = w.pass(plan())
		Expect(sent).To(HaveLen(1))
		logged := w.logged(log)
		Expect(logged).To(HaveLen(1), logged.String())
		Expect(logged[0].String()).To(Equal(fmt.Sprintf("patch configmaps %s/cm-07 by %s: 200", w.namespace, w.user)))
	})

	It("contains no request for thousands of status updates of children", func() {
		const children, churnUpdates = 50, 2_000
		w := newWorld(audited)
		plan := func() apply.Plan {
			var s apply.Plan
			for i := range children {
				s.Apply(deployment(fmt.Sprintf("churn-%02d", i)))
			}
			return s
		}
		w.converge(plan)
		log := auditLog()
		done := make(chan error, 1)
		go func() { done <- w.churn(plan().Children, churnUpdates/children) }()
		passes := 0
		tick := time.NewTicker(betweenPasses)
		defer tick.Stop()
		for updating := true; updating; {
			select {
			case err := <-done:
				Expect(err).NotTo(HaveOccurred())
				updating = false
			case <-tick.C:
				w.quiet(1, plan)
				passes++
			}
		}
		w.synced(plan)
		w.quiet(2, plan)
		Expect(passes).To(BeNumerically(">", 10), "passes between the updates")
		Expect(w.logged(log)).To(BeEmpty())
		updates, err := log.Entries(environment.Asked(requests.Subresource("status"), requests.Verb("patch"),
			func(r requests.Request) bool { return r.Namespace == w.namespace }))
		Expect(err).NotTo(HaveOccurred())
		carriedOut := updates.Where(func(e environment.AuditEntry) bool { return e.Code == http.StatusOK })
		Expect(len(carriedOut)).To(BeNumerically(">=", churnUpdates), "the updates did happen")
	})
})

// betweenPasses gives the API server time for the updates.
const betweenPasses = 20 * time.Millisecond

// update changes the status of a child. An update that a busy API server rejects
// or does not answer within its request timeout of a
// minute is sent again.
func (w *world) update(o client.Object, patch client.Patch) error {
	again := wait.Backoff{Duration: 100 * time.Millisecond, Factor: 4, Steps: 6}
	return retry.OnError(again, func(err error) bool {
		var status apierrors.APIStatus
		refused := errors.As(err, &status) && status.Status().Code >= http.StatusBadRequest &&
			status.Status().Code < http.StatusInternalServerError && !apierrors.IsTooManyRequests(err)
		return !refused
	}, func() error { return w.admin.Status().Patch(w.ctx, o, patch) })
}

// churn changes the status of each child a number of times, like their
// controllers would.
func (w *world) churn(children []apply.Child, times int) error {
	const workers = 8
	queue := make(chan client.Object)
	errs := make(chan error, workers)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for o := range queue {
				for i := range times {
					patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"observedGeneration":`+strconv.Itoa(i+1)+`}}`))
					if err := w.update(o, patch); err != nil {
						select {
						case errs <- err:
						default:
						}
					}
				}
			}
		})
	}
	for _, c := range children {
		c.Object.SetNamespace(w.namespace)
		queue <- c.Object
	}
	close(queue)
	group.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}
