// Package expect compares values that an operator plans with documents that a test has in YAML.
package expect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/yaml"
)

// Diff returns the differences of a value from the wanted document, -want +got. Every field counts; an empty list or map is the same as
// none. A field that the type does not have fails the test.
func Diff[T any](t testing.TB, want string, got T) string {
	t.Helper()
	var wanted T
	if err := yaml.UnmarshalStrict([]byte(want), &wanted); err != nil {
		t.Fatalf("read the wanted document: %v", err)
	}
	return cmp.Diff(wanted, got, cmpopts.EquateEmpty())
}
