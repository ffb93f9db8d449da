package main

import (
	"slices"
	"testing"
)

func TestBack(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		refs []reference
		want int
	}{
		{"none", nil, 0},
		{"a chain", []reference{{"a", "b"}, {"b", "c"}, {"a", "c"}}, 0},
		{"two that use each other", []reference{{"a", "b"}, {"b", "a"}, {"b", "c"}}, 1},
		{"a ring", []reference{{"a", "b"}, {"b", "c"}, {"c", "a"}}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()

			refs := map[reference]names{}
			for _, r := range test.refs {
				refs[r] = names{"f": {}}
			}
			if got := len(back([]string{"a", "b", "c"}, refs)); got != test.want {
				t.Errorf("got %d references that point back, want %d", got, test.want)
			}
		})
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()

	packages, err := list([]string{"."})
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}
	at := slices.IndexFunc(packages, func(p listed) bool { return !p.DepOnly })
	refs, err := references(packages[at], exports)
	if err != nil {
		t.Fatal(err)
	}
	if len(refs) != 0 {
		t.Errorf("this package has one file with code, got references %v", refs)
	}
}
