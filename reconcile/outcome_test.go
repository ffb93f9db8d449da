package reconcile_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile"
)

var errFlaky = errors.New("flaky")

func TestOutcomeResult(t *testing.T) {
	t.Parallel()
	busy := apierrors.NewTooManyRequests("busy", 30)
	cases := map[string]struct {
		reason      string
		planned     []time.Duration
		retry       []error
		backoff     time.Duration
		want        ctrl.Result
		wantErr     error
		wantHandled error
	}{
		"Nothing": {reason: "a pass with nothing left to do asks for nothing"},
		"Earliest": {
			reason: "the earliest of several requeues stands", planned: []time.Duration{time.Hour, time.Minute, 0},
			want: ctrl.Result{RequeueAfter: time.Minute},
		},
		"Backoff": {
			reason: "an error without a plan goes to the backoff", retry: []error{errFlaky}, backoff: time.Second,
			wantErr: errFlaky,
		},
		"LaterPlan": {
			reason: "a plan later than the backoff does not slow the retry", planned: []time.Duration{time.Hour},
			retry: []error{errFlaky}, backoff: time.Second, wantErr: errFlaky,
		},
		"EarlierPlan": {
			reason: "a plan earlier than the backoff is kept, and the error is handled", planned: []time.Duration{time.Second},
			retry: []error{errFlaky}, backoff: time.Minute,
			want: ctrl.Result{RequeueAfter: time.Second}, wantHandled: errFlaky,
		},
		"HotPlan": {
			reason: "a plan for the next moment does not stand in for the backoff", planned: []time.Duration{50 * time.Millisecond},
			retry: []error{errFlaky}, backoff: time.Minute,
			want: ctrl.Result{RequeueAfter: time.Second}, wantHandled: errFlaky,
		},
		"HotPlanEarlyBackoff": {
			reason: "nor does it end a short one", planned: []time.Duration{50 * time.Millisecond},
			retry: []error{errFlaky}, backoff: 640 * time.Millisecond,
			want: ctrl.Result{RequeueAfter: 640 * time.Millisecond}, wantHandled: errFlaky,
		},
		"RetryAfterBeforePlan": {
			reason: "a plan does not beat the delay that the API server asked for", planned: []time.Duration{time.Second},
			retry: []error{errFlaky, busy}, backoff: time.Millisecond,
			want: ctrl.Result{RequeueAfter: 30 * time.Second}, wantHandled: busy,
		},
		"RetryAfter": {
			reason: "the delay that the API server asked for is honoured, wrapped or joined",
			retry:  []error{fmt.Errorf("apply: %w", errors.Join(errFlaky, busy))}, backoff: time.Millisecond,
			want: ctrl.Result{RequeueAfter: 30 * time.Second}, wantHandled: busy,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var outcome reconcile.Outcome
			for _, d := range tc.planned {
				outcome.Requeue(d)
			}
			for _, err := range tc.retry {
				outcome.Fail(err)
			}
			got, err, handled := outcome.Result(tc.backoff)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: result (-want +got):\n%s", tc.reason, diff)
			}
			if !errors.Is(err, tc.wantErr) {
				t.Errorf("%s: error %v, want %v", tc.reason, err, tc.wantErr)
			}
			if !errors.Is(handled, tc.wantHandled) {
				t.Errorf("%s: handled %v, want %v", tc.reason, handled, tc.wantHandled)
			}
		})
	}
}

// TestOutcomeLosesNothing joins random outcomes: every retriable error comes out exactly once, to controller-runtime or
// as handled, and the requeue is never later than the earliest one planned, unless the API server asked for more time.
func TestOutcomeLosesNothing(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var all reconcile.Outcome
		var errs []error
		earliest, asked := time.Duration(0), false
		for range random.IntN(5) {
			var part reconcile.Outcome
			if d := time.Duration(random.IntN(4)) * time.Second; random.IntN(2) == 0 {
				part.Requeue(d)
				if d > 0 && (earliest == 0 || d < earliest) {
					earliest = d
				}
			}
			if random.IntN(2) == 0 {
				err := fmt.Errorf("error %d", len(errs))
				if random.IntN(3) == 0 {
					asked = true
					err = apierrors.NewTooManyRequests(err.Error(), 1+random.IntN(60))
				}
				errs = append(errs, err)
				part.Fail(err)
			}
			all.Join(part)
		}
		result, err, handled := all.Result(time.Duration(random.IntN(3000)) * time.Millisecond)
		for _, want := range errs {
			if errors.Is(err, want) == errors.Is(handled, want) {
				t.Fatalf("%v was lost or told twice: error %v, handled %v", want, err, handled)
			}
		}
		if !asked && err == nil && earliest > 0 && (result.RequeueAfter == 0 || result.RequeueAfter > earliest) {
			t.Fatalf("requeue after %s, want at most %s", result.RequeueAfter, earliest)
		}
		if handled != nil && result.RequeueAfter == 0 {
			t.Fatalf("handled %v without a requeue: nothing would retry it", handled)
		}
	}
}
