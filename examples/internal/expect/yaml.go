// Package expect compares values that an operator plans with YAML documents of a test.
package expect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/yaml"
)

// Diff compares a value with the wanted document and returns the differences, -want +got. All fields count; an empty list or map
// equals none. An unknown field fails the test.
func Diff[T any](t testing.TB, want string, got T) string {
	t.Helper()
	var wanted T
	if err := yaml.UnmarshalStrict([]byte(want), &wanted); err != nil {
		t.Fatalf("read the wanted document: %v", err)
	}
	return cmp.Diff(wanted, got, cmpopts.EquateEmpty())
}
