package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/lint"
)

// Fatalf ends the test.
func (t *recordingTest) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func TestWatched(t *testing.T) {
	t.Parallel()

	page := dataflow.Page{Name: "shop", Controllers: []dataflow.Description{{Watches: []dataflow.Watch{
		{Type: "For", GVK: "example.com/v1/Shop"}, {Type: "Owns", GVK: "apps/v1/Deployment"}, {Type: "Watches", GVK: "/v1/Secret"},
	}}}}
	cases := map[string]struct {
		reason     string
		rows       string
		exceptions map[string]string
		want       string // part of the failure; empty for none
	}{
		"Covered": {
			reason: "the kind of watch is ignored, except for reconciled kinds",
			rows:   "# comment\nFor example.com/v1/Shop\n\nWatches apps/v1/Deployment\nOwns  /v1/Secret\n",
		},
		"NotReconciled":    {reason: "For means For", rows: "For /v1/Secret", want: `does not cover "For /v1/Secret"`},
		"Missing":          {reason: "a kind", rows: "Owns /v1/Service", want: `does not cover "Owns /v1/Service"`},
		"OtherVersion":     {reason: "the version matters", rows: "Owns apps/v2/Deployment", want: "does not cover"},
		"Excepted":         {reason: "an exception", rows: "Owns /v1/Service", exceptions: map[string]string{"Owns /v1/Service": "later"}},
		"WithoutReason":    {reason: "an exception without a reason", rows: "Owns /v1/Service", exceptions: map[string]string{"Owns /v1/Service": ""}, want: "needs a reason"},
		"NoGap":            {reason: "an obsolete exception", rows: "Owns /v1/Secret", exceptions: map[string]string{"Owns /v1/Secret": "later"}, want: "remove the exception"},
		"UnknownException": {reason: "a misspelt exception", rows: "Owns /v1/Secret", exceptions: map[string]string{"Owns /v1/Secrets": "later"}, want: `has no row "Owns /v1/Secrets"`},
		"Empty":            {reason: "a file without rows is an error", rows: "# nothing\n", want: "has no rows"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			file := filepath.Join(t.TempDir(), "watches.txt")
			if err := os.WriteFile(file, []byte(tc.rows), 0o600); err != nil {
				t.Fatal(err)
			}

			inner := &recordingTest{TB: t}
			lint.Watched(inner, page, file, tc.exceptions)

			got := strings.Join(inner.failures, "\n")
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("%s: want a failure with %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
