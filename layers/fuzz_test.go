package layers_test

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/layers"
)

// FuzzMaps checks that each key has the value of the first map that contains it, and that the arguments are unchanged.
func FuzzMaps(f *testing.F) {
	f.Add("a", "1", "b", "2")
	f.Add("a", "1", "a", "2")
	f.Add("", "", "", "x")
	f.Fuzz(func(t *testing.T, k1, v1, k2, v2 string) {
		near, far := map[string]string{k1: v1}, map[string]string{k2: v2}
		got := layers.Maps(near, nil, far)
		want := map[string]string{k2: v2}
		want[k1] = v1
		if len(got) != len(want) || got[k1] != want[k1] || got[k2] != want[k2] {
			t.Errorf("got %v, want %v", got, want)
		}
		got["another"] = "x"
		if len(near) != 1 || len(far) != 1 || near[k1] != v1 || far[k2] != v2 {
			t.Errorf("the arguments were changed: %v, %v", near, far)
		}
	})
}
