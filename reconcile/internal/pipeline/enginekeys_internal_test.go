package pipeline

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithoutEngineKeys(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		domain   string
		metadata map[string]string
		want     map[string]string
		found    bool
	}{
		"nothing":                 {},
		"no key of the engine":    {metadata: map[string]string{"app": "web", "example.com/a": "b"}, want: map[string]string{"app": "web", "example.com/a": "b"}},
		"only keys of the engine": {metadata: map[string]string{"applyset.kubernetes.io/id": "x"}, found: true},
		"the applyset":            {metadata: map[string]string{"applyset.kubernetes.io/tooling": "x", "a": "b"}, want: map[string]string{"a": "b"}, found: true},
		"the default domain":      {metadata: map[string]string{"reconcilekit.dev/generation": "1", "a": "b"}, want: map[string]string{"a": "b"}, found: true},
		"a pause":                 {metadata: map[string]string{"reconcilekit.dev/paused": "true"}, found: true},
		"a second controller": {
			metadata: map[string]string{"0123456789.reconcilekit.dev/external": "x"}, found: true,
		},
		"another subdomain": {
			metadata: map[string]string{"test.reconcilekit.dev/a": "x"}, want: map[string]string{"test.reconcilekit.dev/a": "x"},
		},
		"the engine's names in the operator's domain": {
			domain: "example.com", found: true,
			metadata: map[string]string{"example.com/generation": "1", "example.com/team": "red", "abcdef0123.example.com/id": "x"},
			want:     map[string]string{"example.com/team": "red"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, found := withoutEngineKeys(test.domain, maps.Clone(test.metadata))
			if found != test.found {
				t.Errorf("found is %t, want %t", found, test.found)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOwnerWithoutEngineKeysDoesNotAllocate(t *testing.T) {
	metadata := map[string]string{"app": "web", "example.com/a": "b"}
	if n := testing.AllocsPerRun(100, func() { withoutEngineKeys("example.com", metadata) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
