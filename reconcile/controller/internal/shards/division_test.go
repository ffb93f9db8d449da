package shards_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	server "k8s.io/apiserver/pkg/sharding"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

// uids returns UIDs like those of an API server.
func uids(count int) []types.UID {
	random := rand.New(rand.NewPCG(1, 2))
	out := make([]types.UID, count)
	for i := range out {
		out[i] = types.UID(fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", random.Uint32(), random.IntN(1<<16), random.IntN(1<<12), random.IntN(1<<12),
			random.Int64N(1<<48)))
	}
	return out
}

// TestDivide checks that owners are divided evenly, and that an additional shard takes the same number of owners from each other shard.
func TestDivide(t *testing.T) {
	t.Parallel()
	const objects = 20_000
	all := uids(objects)
	for count := 1; count < shards.MaxCount; count *= 2 {
		before, after := shards.Divide(count), shards.Divide(count+1)
		sizes, moved := make([]int, count), 0
		for _, uid := range all {
			at := before.Of(uid)
			sizes[at]++
			if to := after.Of(uid); to != at {
				moved++
				if to != count {
					t.Fatalf("%d shards and one more: an object moves from shard %d to %d, which was there before", count, at, to)
				}
			}
		}
		for shard, size := range sizes {
			if mean := objects / count; size < mean*3/4 || size > mean*5/4 {
				t.Errorf("%d shards: shard %d has %d objects of %d", count, shard, size, objects)
			}
		}
		if mean := objects / (count + 1); moved < mean*3/4 || moved > mean*5/4 {
			t.Errorf("%d shards and one more: %d of %d objects move, want some %d", count, moved, objects, mean)
		}
	}
}

// TestSelectors checks that the selectors select the same objects as the division.
func TestSelectors(t *testing.T) {
	t.Parallel()
	all := uids(500)
	for _, count := range []int{1, 2, 3, 5, 17, shards.MaxCount} {
		division := shards.Divide(count)
		for shard := range count {
			selector, err := server.Parse(division.Select(shard).Options().ShardSelector)
			if err != nil {
				t.Fatal(err)
			}
			for _, uid := range all {
				got, err := selector.Matches(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: uid}})
				if err != nil {
					t.Fatal(err)
				}
				if want := division.Of(uid) == shard; got != want {
					t.Fatalf("shard %d of %d, UID %s: in the shard: %t, the API server selects it: %t", shard, count, uid, want, got)
				}
			}
		}
	}
}
