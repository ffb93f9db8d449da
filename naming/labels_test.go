package naming_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/naming"
)

func TestMatchingLabels(t *testing.T) {
	t.Parallel()
	labels := map[string]string{"team": "a", "org.example/cost": "1", "org.example/tier": "gold", "other": "x"}
	for name, tc := range map[string]struct {
		reason   string
		patterns []string
		want     map[string]string
	}{
		"None":      {reason: "without patterns no label matches"},
		"Exact":     {reason: "a key", patterns: []string{"team", "teams"}, want: map[string]string{"team": "a"}},
		"Domain":    {reason: "every key of a domain", patterns: []string{"org.example/*"}, want: map[string]string{"org.example/cost": "1", "org.example/tier": "gold"}},
		"Slash":     {reason: "a star does not cross the slash", patterns: []string{"*"}, want: map[string]string{"team": "a", "other": "x"}},
		"Malformed": {reason: "a bad pattern matches nothing, the next one is tried", patterns: []string{"[", "other"}, want: map[string]string{"other": "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, naming.MatchingLabels(labels, tc.patterns...)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
