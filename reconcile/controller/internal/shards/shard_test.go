package shards_test

import (
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

// TestCheck checks that an invalid shard is rejected, and that an informer selects all owners for it.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		shard *shards.Shard
		group bool
		want  string // part of the error; empty means no error
		part  bool   // whether the informer selects only some owners
	}{
		{shard: nil},
		{shard: &shards.Shard{Name: "1", Count: 2}, part: true},
		{shard: &shards.Shard{Name: "blue", Label: "shard"}, part: true},
		{shard: &shards.Shard{Name: "1", Count: 2}, group: true, want: "groups are not objects", part: true},
		{shard: &shards.Shard{Name: "2", Count: 2}},
		{shard: &shards.Shard{Name: "64", Count: 2}, want: `.Name is "64", want a number from 0 to 1, as the Count is 2, or up to 63`},
		{shard: &shards.Shard{Name: "1", Count: shards.MaxCount + 1}, want: "a Count of 1 to 64"},
		{shard: &shards.Shard{Name: "1", Count: 2, Label: "shard"}, want: "wants either a Label or a Count of 1 to 64"},
		{shard: &shards.Shard{Label: "shard"}, want: ".Name is empty"},
		{shard: &shards.Shard{Name: "not a value", Label: "shard"}, want: "wants a Label with the value of Name"},
	} {
		err := shards.Check(tc.shard, "shop", tc.group)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: got %v, want %q", tc.shard, err, tc.want)
		}
		if got := shards.SelectionOf(tc.shard) != (shards.Selection{}); got != tc.part {
			t.Errorf("%+v: the informer selects: %t, want %t", tc.shard, got, tc.part)
		}
	}
	for name, want := range map[string]bool{"1": false, "2": true, "63": true, "two": false} {
		if got := shards.Retired(&shards.Shard{Name: name, Count: 2}); got != want {
			t.Errorf("shard %q of 2 is retired: %t, want %t", name, got, want)
		}
	}
	if shards.Retired(&shards.Shard{Name: "2", Label: "shard"}) {
		t.Error("a shard with a label is retired")
	}
}
