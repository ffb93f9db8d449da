package defaulting_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/reconcilekit/reconcilekit/defaulting"
)

func TestDifference(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ before, after, want string }{
		"Same":     {`{"a":1,"b":{"c":[1]}}`, `{"b":{"c":[1]},"a":1}`, `{}`},
		"Added":    {`{}`, `{"b":{"c":1}}`, `{"b":{"c":1}}`},
		"Nested":   {`{"b":{"c":1,"d":2}}`, `{"b":{"c":1,"d":3}}`, `{"b":{"d":3}}`},
		"Removed":  {`{"a":1,"b":{"c":1}}`, `{"b":{}}`, `{"a":null,"b":{"c":null}}`},
		"Lists":    {`{"a":[1,2]}`, `{"a":[1]}`, `{"a":[1]}`},
		"KindOfIt": {`{"a":{"b":1}}`, `{"a":1}`, `{"a":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := defaulting.Difference(json.RawMessage(test.before), json.RawMessage(test.after))
			if err != nil || got != test.want {
				t.Errorf("want %s, got %s, %v", test.want, got, err)
			}
		})
	}
	for name, value := range map[string]any{"NoObject": 1, "NoJSON": func() {}} {
		if _, err := defaulting.Difference(value, struct{}{}); err == nil {
			t.Errorf("%s: want an error", name)
		}
		if _, err := defaulting.Difference(struct{}{}, value); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
	for _, pair := range [][2]string{{"1", "{}"}, {"{}", "1"}} {
		if _, err := defaulting.Merge([]byte(pair[0]), []byte(pair[1])); err == nil {
			t.Errorf("merge %v: want an error", pair)
		}
	}
}

// FuzzDifference checks that merging the difference into the first value gives the second, except for nulls, which a
// merge patch cannot set.
func FuzzDifference(f *testing.F) {
	f.Add(`{"a":1,"b":{"c":[1]}}`, `{"b":{"c":[2],"d":{}}}`)
	f.Fuzz(func(t *testing.T, before, after string) {
		var from, to map[string]any
		if json.Unmarshal([]byte(before), &from) != nil || json.Unmarshal([]byte(after), &to) != nil || from == nil || to == nil || nulls(to) {
			return
		}
		patch, err := defaulting.Difference(from, to)
		if err != nil {
			t.Fatal(err)
		}
		merged, err := defaulting.Merge([]byte(before), []byte(patch))
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(merged, &got); err != nil || !reflect.DeepEqual(got, to) {
			t.Errorf("%s + %s = %s, want %s", before, patch, merged, after)
		}
	})
}

func nulls(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		for _, nested := range v {
			if nulls(nested) {
				return true
			}
		}
	case []any:
		return false // decoded without changes
	}
	return false
}

func BenchmarkDifference(b *testing.B) {
	before := map[string]any{"rest": map[string]any{"port": 1}, "database": map[string]any{"host": "a"}}
	after := map[string]any{"rest": map[string]any{"port": 1, "image": "x"}, "database": map[string]any{"host": "a"}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := defaulting.Difference(before, after); err != nil {
			b.Fatal(err)
		}
	}
}

type server struct {
	Replicas *int32            `json:"replicas,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	Ports    []port            `json:"ports,omitempty"`
}

type port struct {
	Number int `json:"number"`
}

// TestDifferenceNotRemembered changes the inputs of a difference in place, and checks that the next difference is of the
// current values.
func TestDifferenceNotRemembered(t *testing.T) {
	t.Parallel()
	one := int32(1)
	before := &server{Replicas: &one, Labels: map[string]string{"a": "b"}, Ports: []port{{1}}}
	after := &server{Replicas: new(int32(2)), Labels: map[string]string{"a": "b"}, Ports: []port{{1}}}
	expect := func(want string) {
		t.Helper()
		for range 2 {
			if got, err := defaulting.Difference(before, after); err != nil || got != want {
				t.Errorf("want %s, got %s, %v", want, got, err)
			}
		}
	}
	expect(`{"replicas":2}`)
	after.Ports[0].Number = 3
	expect(`{"ports":[{"number":3}],"replicas":2}`)
	before.Ports[0].Number = 3
	expect(`{"replicas":2}`)
	one = 2
	expect(`{}`)
	after.Labels["c"] = "d"
	expect(`{"labels":{"c":"d"}}`)
	before, after = after, before
	expect(`{"labels":{"c":null}}`)
	after.Labels = nil
	expect(`{"labels":null}`)
}

// TestDifferenceAllocations checks that a repeated difference, which every reconciliation requests, is not computed
// again.
func TestDifferenceAllocations(t *testing.T) {
	before := &server{Labels: map[string]string{"a": "b"}}
	after := &server{Replicas: new(int32(2)), Labels: map[string]string{"a": "b"}}
	got := testing.AllocsPerRun(100, func() {
		if text, err := defaulting.Difference(before, after); err != nil || text != `{"replicas":2}` {
			t.Fatal(text, err)
		}
	})
	if got > 4 {
		t.Errorf("%v allocations", got)
	}
}
