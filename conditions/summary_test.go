package conditions_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
)

func TestSummarize(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		list []metav1.Condition
		opts []conditions.SummaryOption
		want conditions.Summary
	}{
		"none": {want: conditions.Summary{Status: "True", Reason: "AllGood", Message: "all 0 conditions are good"}},
		"good": {
			list: []metav1.Condition{stored("A", "True", "R", ""), stored("Ready", "False", "Old", "not counted")},
			want: conditions.Summary{Status: "True", Reason: "AllGood", Message: "all 1 conditions are good"},
		},
		"worst first": {
			list: []metav1.Condition{
				stored("C", "Unknown", "Silence", ""), stored("B", "False", "Full", "disk is full"), stored("A", "True", "R", ""),
			},
			want: conditions.Summary{Status: "False", Reason: "Full", Message: "B: disk is full; C: Silence"},
		},
		"wanted and missing": {
			list: []metav1.Condition{stored("A", "True", "R", ""), stored("B", "False", "X", "not wanted")},
			opts: []conditions.SummaryOption{conditions.Types{"A", "Z"}},
			want: conditions.Summary{Status: "Unknown", Reason: "NotReported", Message: "Z: NotReported"},
		},
		"negative polarity": {
			list: []metav1.Condition{stored("Stalled", "True", "Stuck", "no progress"), stored("Pressure", "False", "Fine", "")},
			opts: []conditions.SummaryOption{conditions.NegativePolarity{"Stalled", "Pressure"}},
			want: conditions.Summary{Status: "False", Reason: "Stuck", Message: "Stalled: no progress"},
		},
		"negative polarity, missing is good": {
			opts: []conditions.SummaryOption{conditions.Types{"Stalled"}, conditions.NegativePolarity{"Stalled"}},
			want: conditions.Summary{Status: "True", Reason: "AllGood", Message: "all 1 conditions are good"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, conditions.Summarize(tc.list, tc.opts...)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			slices.Reverse(tc.list)
			if diff := cmp.Diff(tc.want, conditions.Summarize(tc.list, tc.opts...)); diff != "" {
				t.Errorf("reversed: -want +got\n%s", diff)
			}
		})
	}
}

func TestAggregate(t *testing.T) {
	t.Parallel()
	var list []conditions.Source
	for i := range 20 {
		list = append(list, conditions.Source{Name: fmt.Sprintf("pod-%02d", i), Condition: stored("Ready", "True", "R", "")})
	}
	for i, reason := range []string{"Evicted", "OOMKilled", "OOMKilled", "OOMKilled", "OOMKilled", "Pulling"} {
		list[i].Condition = stored("Ready", "False", reason, "")
	}
	list[7].Condition = metav1.Condition{}
	want := conditions.Summary{
		Status: "False", Reason: "OOMKilled",
		Message: "7 of 20 are not ready: OOMKilled (4: pod-01, pod-02, pod-03 and 1 more), Evicted (1: pod-00), " +
			"Pulling (1: pod-05), NotReported (1: pod-07)",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		if diff := cmp.Diff(want, conditions.Aggregate(list)); diff != "" {
			t.Fatalf("-want +got\n%s", diff)
		}
	}
}

func TestAggregateIsBounded(t *testing.T) {
	t.Parallel()
	var list []conditions.Source
	for i := range 5000 {
		list = append(list, conditions.Source{
			Name:      fmt.Sprintf("%s-%d", strings.Repeat("ö", 400), i),
			Condition: stored("Ready", "False", fmt.Sprintf("Reason%d", i%900), ""),
		})
	}
	got := conditions.Aggregate(list)
	if len(got.Message) > conditions.MaxMessage {
		t.Errorf("message has %d bytes", len(got.Message))
	}
	if !strings.HasPrefix(got.Message, "5000 of 5000 are not ready: Reason0 (6: ") || got.Reason != "Reason0" {
		t.Errorf("summary = %s %.80s", got.Reason, got.Message)
	}
	few := conditions.Aggregate([]conditions.Source{{Name: "only", Condition: stored("Ready", "False", "", "")}})
	if want := "1 of 1 are not ready: Unspecified (1: only)"; few.Message != want || few.Reason != "Unspecified" {
		t.Errorf("summary = %+v", few)
	}
}

func TestSummarizeCountsWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	var list []metav1.Condition
	for i := range 100 {
		list = append(list, stored(fmt.Sprintf("C%03d", i), "False", "R", strings.Repeat("x", 95)))
	}
	got := conditions.Summarize(list).Message
	if !strings.HasSuffix(got, "; and 91 more") || len(got) > conditions.MaxMessage {
		t.Errorf("message = ...%s (%d bytes)", got[len(got)-40:], len(got))
	}
}
