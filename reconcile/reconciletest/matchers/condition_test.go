package matchers_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/matchers"
)

func Example() {
	g := NewGomega(func(message string, _ ...int) {
		first, _, _ := strings.Cut(message, "\n")
		fmt.Println(first)
	})
	g.Expect(waiting()).To(matchers.HaveCondition("Ready", metav1.ConditionFalse).Because("Waiting"))
	g.Expect(waiting()).To(matchers.HaveCondition("Ready", metav1.ConditionTrue))
	g.Expect(waiting()).To(matchers.HaveCondition("Ready", metav1.ConditionFalse).Current())
	// Output:
	// Expected the condition Ready=True: its status is False, with reason Waiting: for the Deployment
	// Expected the condition Ready=False of the current generation: its observedGeneration is 1, the object's generation is 2
}

func waiting() *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Generation: 2},
		Status: corev1.ServiceStatus{Conditions: []metav1.Condition{{
			Type: "Ready", Status: metav1.ConditionFalse, Reason: "Waiting", Message: "for the Deployment", ObservedGeneration: 1,
		}}},
	}
}

func TestHaveCondition(t *testing.T) {
	t.Parallel()
	have := matchers.HaveCondition
	for name, c := range map[string]struct {
		matcher *matchers.ConditionMatcher
		matches bool
		why     string
	}{
		"status":              {have("Ready", metav1.ConditionFalse), true, "not to find the condition Ready=False"},
		"another status":      {have("Ready", metav1.ConditionTrue), false, "its status is False, with reason Waiting"},
		"reason":              {have("Ready", metav1.ConditionFalse).Because("Waiting"), true, "Ready=False (Waiting)"},
		"another reason":      {have("Ready", metav1.ConditionFalse).Because("Done"), false, "its reason is Waiting"},
		"message":             {have("Ready", metav1.ConditionFalse).Mentioning("Deployment"), true, `with "Deployment" in its message`},
		"another message":     {have("Ready", metav1.ConditionFalse).Mentioning("Job"), false, `its message is "for the Deployment"`},
		"an older generation": {have("Ready", metav1.ConditionFalse).Current(), false, "its observedGeneration is 1, the object's generation is 2"},
		"another type":        {have("Available", metav1.ConditionTrue), false, "no condition of that type, only: Ready"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			matches, err := c.matcher.Match(waiting())
			if err != nil || matches != c.matches {
				t.Fatalf("want %t, got %t and %v", c.matches, matches, err)
			}
			message := c.matcher.FailureMessage(waiting())
			if matches {
				message = c.matcher.NegatedFailureMessage(waiting())
			}
			if !strings.Contains(message, c.why) {
				t.Errorf("want a message with %q, got %s", c.why, message)
			}
		})
	}
}

// TestHaveConditionErrors checks that a value without conditions is an error of the test, not a mismatch.
func TestHaveConditionErrors(t *testing.T) {
	t.Parallel()
	odd := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": "none"}}}
	for _, actual := range []any{nil, "Ready", odd, errors.New("not found")} {
		if _, err := matchers.HaveCondition("Ready", metav1.ConditionTrue).Match(actual); err == nil {
			t.Errorf("want an error for %v", actual)
		}
	}
}
