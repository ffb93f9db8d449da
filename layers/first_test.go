package layers_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/layers"
)

func TestFirst(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		high, low *int
		want      layers.Choice[int]
	}{
		"silence":            {want: layers.Choice[int]{}},
		"only the low layer": {low: new(20), want: layers.Choice[int]{Value: 20, Layer: "low", Found: true}},
		"explicit zero":      {high: new(0), low: new(20), want: layers.Choice[int]{Value: 0, Layer: "high", Found: true}},
		"value over zero":    {high: new(5), low: new(0), want: layers.Choice[int]{Value: 5, Layer: "high", Found: true}},
	} {
		got := layers.First(layers.Source[int]{Layer: "high", Value: test.high}, layers.Source[int]{Layer: "low", Value: test.low})
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if pointer := got.Pointer(); (pointer != nil) != test.want.Found || pointer != nil && *pointer != test.want.Value {
			t.Errorf("%s: Pointer() = %v", name, pointer)
		}
	}
}

func TestMaps(t *testing.T) {
	t.Parallel()
	high, low := map[string]int{"a": 1}, map[string]int{"a": 2, "b": 2}
	if diff := cmp.Diff(map[string]int{"a": 1, "b": 2}, layers.Maps(high, nil, low)); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	if len(high) != 1 || low["a"] != 2 {
		t.Error("the layers were changed")
	}
	if got := layers.Maps(map[string]int{}, nil); got != nil {
		t.Errorf("merged nothing into %v, want nil", got)
	}
}
