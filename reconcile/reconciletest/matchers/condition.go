package matchers

import (
	"errors"
	"fmt"
	"strings"

	"github.com/onsi/gomega/format"
	gomegatypes "github.com/onsi/gomega/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ConditionMatcher matches a typed or unstructured object by one of its status conditions.
type ConditionMatcher struct {
	wanted  metav1.Condition
	current bool
	why     string // why the last object did not match
}

var _ gomegatypes.GomegaMatcher = (*ConditionMatcher)(nil)

// HaveCondition matches an object with a condition of that type and status:
//
//	Eventually(get).Should(HaveCondition("Ready", metav1.ConditionTrue).Current())
func HaveCondition(conditionType string, status metav1.ConditionStatus) *ConditionMatcher {
	return &ConditionMatcher{wanted: metav1.Condition{Type: conditionType, Status: status}}
}

// Because also requires the reason.
func (m *ConditionMatcher) Because(reason string) *ConditionMatcher {
	m.wanted.Reason = reason
	return m
}

// Mentioning also requires the text in the message.
func (m *ConditionMatcher) Mentioning(text string) *ConditionMatcher {
	m.wanted.Message = text
	return m
}

// Current also requires that the condition is of the current generation: its observedGeneration is metadata.generation.
func (m *ConditionMatcher) Current() *ConditionMatcher {
	m.current = true
	return m
}

var errNoObject = errors.New("HaveCondition: want a client.Object, got nil")

// Match implements Gomega's matcher. It returns an error if the actual value is not an object, or its conditions cannot be read.
func (m *ConditionMatcher) Match(actual any) (bool, error) {
	object, ok := actual.(client.Object)
	if !ok || object == nil {
		return false, fmt.Errorf("%w, got %T", errNoObject, actual)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return false, fmt.Errorf("HaveCondition: convert %T: %w", object, err)
	}
	var stored struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &stored); err != nil {
		return false, fmt.Errorf("HaveCondition: conditions of %T: %w", object, err)
	}
	m.why = m.differs(stored.Status.Conditions, object.GetGeneration())
	return m.why == "", nil
}

// differs returns why conditions do not match, "" if they do.
func (m *ConditionMatcher) differs(all []metav1.Condition, generation int64) string {
	var types []string
	for _, c := range all {
		types = append(types, c.Type)
		switch {
		case c.Type != m.wanted.Type:
			continue
		case c.Status != m.wanted.Status:
			return fmt.Sprintf("its status is %s, with reason %s: %s", c.Status, c.Reason, c.Message)
		case m.wanted.Reason != "" && c.Reason != m.wanted.Reason:
			return fmt.Sprintf("its reason is %s: %s", c.Reason, c.Message)
		case !strings.Contains(c.Message, m.wanted.Message):
			return fmt.Sprintf("its message is %q", c.Message)
		case m.current && c.ObservedGeneration != generation:
			return fmt.Sprintf("its observedGeneration is %d, the object's generation is %d", c.ObservedGeneration, generation)
		}
		return ""
	}
	return "no condition of that type, only: " + strings.Join(types, ", ")
}

// FailureMessage implements Gomega's matcher.
func (m *ConditionMatcher) FailureMessage(actual any) string {
	return fmt.Sprintf("Expected the condition %s: %s\nin\n%s", m, m.why, format.Object(actual, 1))
}

// NegatedFailureMessage implements Gomega's matcher.
func (m *ConditionMatcher) NegatedFailureMessage(actual any) string {
	return fmt.Sprintf("Expected not to find the condition %s in\n%s", m, format.Object(actual, 1))
}

// String returns the expected condition for messages, for example "Ready=True (Done)".
func (m *ConditionMatcher) String() string {
	text := fmt.Sprintf("%s=%s", m.wanted.Type, m.wanted.Status)
	if m.wanted.Reason != "" {
		text += " (" + m.wanted.Reason + ")"
	}
	if m.wanted.Message != "" {
		text += fmt.Sprintf(" with %q in its message", m.wanted.Message)
	}
	if m.current {
		text += " of the current generation"
	}
	return text
}
