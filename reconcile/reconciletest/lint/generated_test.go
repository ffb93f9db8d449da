package lint_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/lint"
)

// recordingTest is a testing.TB that records failures.
type recordingTest struct {
	testing.TB

	failures []string
}

func (*recordingTest) Helper() {}

func (t *recordingTest) Errorf(format string, args ...any) {
	t.failures = append(t.failures, fmt.Sprintf(format, args...))
}

func TestGenerated(t *testing.T) {
	t.Chdir(t.TempDir())

	const path = "docs/page.md"

	generated := func(update, content string) []string {
		t.Setenv(lint.EnvUpdate, update)

		inner := &recordingTest{TB: t}
		lint.Generated(inner, map[string]string{path: content})

		return inner.failures
	}

	for _, step := range []struct{ what, update, content, failure string }{
		{"a missing file", "", "one\n", "docs/page.md is missing"},
		{"a file that is missing, with update", "1", "one\n", ""},
		{"the same", "", "one\n", ""},
		{"a changed file", "", "two\n", "docs/page.md differs from the generated content"},
		{"a file that has drifted, with update", "1", "two\n", ""},
		{"an unchanged file", "", "two\n", ""},
	} {
		failures := strings.Join(generated(step.update, step.content), "\n")
		if (failures == "") != (step.failure == "") || !strings.Contains(failures, step.failure) {
			t.Errorf("%s: want a failure with %q, got %q", step.what, step.failure, failures)
		}
	}

	if got, err := os.ReadFile(path); err != nil || string(got) != "two\n" {
		t.Errorf("the file has %q, %v", got, err)
	}
}
