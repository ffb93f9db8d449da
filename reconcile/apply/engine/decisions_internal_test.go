package engine

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDecisionsPage compares docs/decisions.md with the tables of decisions; UPDATE_GOLDEN=1 writes it.
func TestDecisionsPage(t *testing.T) {
	t.Parallel()
	const path = "../../../docs/decisions.md"
	var page strings.Builder
	page.WriteString(`# Decisions

This page is generated from the tests of the engine (` + "`UPDATE_GOLDEN=1 go test ./reconcile/apply/engine -run TestDecisionsPage`" + `).

Each row is a situation, with the decision that ` + "`Engine.Diff` returns and `Engine.Apply`" + ` executes. [Reasons](reasons.md) explains the reasons.
The outcome is that before a request was sent: ` + "`Failed`, `Blocked`, `Contested` and `Waiting`" + ` appear in the condition Ready.
`)
	table := func(title string, rows map[string]situation) {
		fmt.Fprintf(&page, "\n## %s\n\n| situation | verb | reason | outcome |\n|---|---|---|---|\n", title)
		for _, name := range slices.Sorted(maps.Keys(rows)) {
			want := rows[name].want
			fmt.Fprintf(&page, "| %s | `%s` | `%s` | `%s` |\n", name, want.Verb, want.Reason, want.Outcome)
		}
	}
	table("A planned child", childSituations())
	table("A planned deletion", deletionSituations())

	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(page.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), page.String()); diff != "" {
		t.Errorf("docs/decisions.md (-want +got):\n%s", diff)
	}
}
