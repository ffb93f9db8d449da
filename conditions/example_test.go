package conditions_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
)

// A pass starts from what is stored, sets what it found out and stores the result. Only a transition is told.
func ExampleManager() {
	yesterday := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	stored := []metav1.Condition{
		{Type: "CacheReady", Status: "True", Reason: "Warm", LastTransitionTime: metav1.NewTime(yesterday)},
		{Type: "ServerReady", Status: "True", Reason: "Serving", LastTransitionTime: metav1.NewTime(yesterday)},
	}

	m := conditions.NewManager(stored, 7, yesterday.Add(24*time.Hour))
	m.MarkTrue("CacheReady", "Warm", "holds 12 entries")
	m.MarkFalse("ServerReady", "NoEndpoints", "", conditions.AsWarning)

	for _, c := range m.Conditions() {
		fmt.Println(c.Type, c.Status, c.ObservedGeneration, c.LastTransitionTime.UTC().Format(time.DateOnly))
	}
	for _, t := range m.Transitions() {
		fmt.Println(t.Event.Type, t.Event.Reason, t.Event.Message)
	}
	// Output:
	// CacheReady True 7 2026-01-01
	// ServerReady False 7 2026-01-02
	// Warning NoEndpoints Server is not ready: NoEndpoints
}

// Conditions of a component that is gone are removed; those of other writers are not.
func ExampleManager_RemoveStale() {
	stored := []metav1.Condition{{Type: "RouteReady", Status: "False"}, {Type: "Billed", Status: "True"}}
	m := conditions.NewManager(stored, 1, time.Unix(0, 0))
	m.MarkTrue("ServerReady", "Serving", "")
	m.RemoveStale(func(conditionType string) bool {
		return conditionType == "RouteReady" || conditionType == "ServerReady"
	})
	for _, c := range m.Conditions() {
		fmt.Println(c.Type)
	}
	// Output:
	// Billed
	// ServerReady
}

// Diff reports what is worth telling between two stored lists.
func ExampleDiff() {
	before := []metav1.Condition{{Type: "ServerReady", Status: "False", Reason: "Starting"}}
	after := []metav1.Condition{{Type: "ServerReady", Status: "True", Reason: "Serving", Message: "3 of 3"}}
	for _, t := range conditions.Diff(before, after) {
		fmt.Println(t.Before.Reason, "->", t.After.Reason, "|", t.Log.Message, t.LogValues())
	}
	// Output:
	// Starting -> Serving | Server is ready [condition ServerReady status True reason Serving message 3 of 3]
}

// Summarize makes one condition of several; True is the trouble of a condition with negative polarity.
func ExampleSummarize() {
	list := []metav1.Condition{
		{Type: "ServerReady", Status: "False", Reason: "NoEndpoints", Message: "no endpoint answers"},
		{Type: "CacheReady", Status: "True", Reason: "Warm"},
		{Type: "Stalled", Status: "True", Reason: "NoProgress", Message: "nothing moved for an hour"},
	}
	s := conditions.Summarize(list, conditions.NegativePolarity{"Stalled"})
	fmt.Println(s.Status, s.Reason)
	fmt.Println(s.Message)
	// Output:
	// False NoEndpoints
	// ServerReady: no endpoint answers; Stalled: nothing moved for an hour
}

// Aggregate makes one condition of one condition of many objects.
func ExampleAggregate() {
	pod := func(name string, status metav1.ConditionStatus, reason string) conditions.Source {
		return conditions.Source{Name: name, Condition: metav1.Condition{Type: "Ready", Status: status, Reason: reason}}
	}
	s := conditions.Aggregate([]conditions.Source{
		pod("a", "False", "ImagePullBackOff"), pod("b", "False", "Evicted"), pod("c", "False", "ImagePullBackOff"), pod("d", "True", "Ready"),
	})
	fmt.Println(s.Reason, "|", s.Message)
	// Output:
	// ImagePullBackOff | 3 of 4 are not ready: ImagePullBackOff (2: a, c), Evicted (1: b)
}

// The same questions go to a manager and to a stored list.
func ExampleAllTrue() {
	list := conditions.List{{Type: "A", Status: "True"}, {Type: "B", Status: "Unknown"}}
	fmt.Println(conditions.AllTrue(list, "A"), conditions.AllTrue(list, "A", "B"), conditions.AnyFalse(list, "A", "B", "C"))
	// Output: true false false
}

// Bound keeps a composed message within what events accept.
func ExampleBound() {
	fmt.Println(len(conditions.Bound(string(make([]byte, 5000)))))
	// Output: 1024
}
