package pipeline_test

import (
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
)

// unsentError is the error of a call that is delayed because the system is unavailable.
type unsentError struct{ until time.Time }

func (unsentError) Error() string             { return "not sent" }
func (unsentError) HealthCategory() string    { return string(health.Infrastructure) }
func (unsentError) HealthReason() string      { return "Away" }
func (e unsentError) NotSentUntil() time.Time { return e.until }

var _ = Describe("A reconciliation whose calls to an external system are delayed", func() {
	It("is repeated when they can be sent, and is not logged as a failure", func() {
		w := newWorld(widget.Spec{Count: 1}, is(health.Component{Errors: []error{unsentError{time.Now().Add(time.Hour)}, unsentError{time.Now().Add(time.Minute)}}}))
		for range 3 {
			result, err := w.pass()
			Expect(err).NotTo(HaveOccurred())
			Expect(result.RequeueAfter).To(BeNumerically("~", time.Minute, 10*time.Second))
		}
		Expect(w.condition("Ready").Reason).To(Equal("Away"))
	})

	It("is retried with backoff if it also has another error", func() {
		w := newWorld(widget.Spec{Count: 1}, is(health.Component{Errors: []error{unsentError{time.Now().Add(time.Minute)}, errors.New("broken")}}))
		_, err := w.pass()
		Expect(err).To(MatchError(ContainSubstring("broken")))
	})
})
