package recent_test

import (
	"fmt"
	"testing"

	"github.com/reconcilekit/reconcilekit/internal/fingerprint"
	"github.com/reconcilekit/reconcilekit/internal/recent"
)

func keyOf(value any) fingerprint.Sum {
	key, _ := fingerprint.Of(value)
	return key
}

func Example() {
	var lengths recent.Values[int]
	length := func(words []string) int {
		key, _ := fingerprint.Of(words)
		if n, known := lengths.Get(key); known {
			fmt.Println("remembered")
			return n
		}
		const size, budget = 40, 4096
		lengths.Put(key, len(words), size, budget)
		return len(words)
	}
	fmt.Println(length([]string{"a"}), length([]string{"a", "b"}))
	fmt.Println(length([]string{"a"}))
	// Output:
	// 1 2
	// remembered
	// 1
}

// TestBudget checks that the least recently used value is removed first, and that a value that is stored twice counts
// once.
func TestBudget(t *testing.T) {
	t.Parallel()
	const size, budget = 10, 30
	var r recent.Values[string]
	for range 2 {
		for _, name := range []string{"a", "b", "c"} {
			r.Put(keyOf(name), name, size, budget)
		}
	}
	for _, name := range []string{"b", "c", "a"} {
		if got, known := r.Get(keyOf(name)); !known || got != name {
			t.Errorf("want %s stored, got %q, %t", name, got, known)
		}
	}
	r.Put(keyOf("d"), "d", size, budget)
	if _, known := r.Get(keyOf("b")); known {
		t.Error("want the least recently used entry removed")
	}
	r.Put(keyOf("a"), "A", budget+1, budget)
	if _, known := r.Get(keyOf("a")); known {
		t.Error("want no entry that exceeds the budget")
	}
	if got, known := r.Get(keyOf("d")); !known || got != "d" {
		t.Errorf("want d kept, got %q, %t", got, known)
	}
}

// TestForget checks that only the given value is removed.
func TestForget(t *testing.T) {
	t.Parallel()
	var r recent.Values[string]
	r.Put(keyOf(1), "new", 1, 1)
	r.Forget(keyOf(1), func(v string) bool { return v == "old" })
	if _, known := r.Get(keyOf(1)); !known {
		t.Error("want the newer value kept")
	}
	r.Forget(keyOf(1), func(v string) bool { return v == "new" })
	if _, known := r.Get(keyOf(1)); known {
		t.Error("want the given value removed")
	}
	r.Put(keyOf(2), "next", 1, 1)
	if _, known := r.Get(keyOf(2)); !known {
		t.Error("want its bytes released")
	}
}
