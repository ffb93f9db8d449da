package conditions_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
)

// A reconciliation starts with the stored conditions, sets the observed ones and stores the result. Only a transition is
// announced.
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

// RemoveStale removes the conditions of a component that no longer exists, but not those of other writers.
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

// A condition that needs attention is announced with a Warning event, whose text the product chooses.
func ExampleOption() {
	m := conditions.NewManager(nil, 1, time.Unix(0, 0))
	m.MarkFalse("CertificateReady", "Expired", "expired on 2026-01-01", conditions.AsError, conditions.EventReason("CertificateExpired"))
	m.MarkTrue("CacheReady", "Warm", "holds 12 entries", conditions.Silent)
	for _, t := range m.Transitions() {
		if t.Event != nil {
			fmt.Println(t.Event.Type, t.Event.Reason, t.Event.Message)
		}
	}
	// Output: Warning CertificateExpired expired on 2026-01-01
}

// Bound shortens a composed message to the length that events accept.
func ExampleBound() {
	fmt.Println(len(conditions.Bound(string(make([]byte, 5000)))))
	// Output: 1024
}
