package shards_test

import (
	"fmt"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/shards"
)

// The third shard takes a part of each of the two others, which keep the rest.
func ExampleDivide() {
	for count := 2; count <= 3; count++ {
		for shard := range count {
			mine, _ := shards.Divide(count).Select(shard).Asks()
			fmt.Println(shard, "of", count, mine.ShardSelector)
		}
	}
	// Output:
	// 0 of 2 shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')
	// 1 of 2 shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')
	// 0 of 3 shardRange(object.metadata.uid, '0x0000000000000000', '0x5555555500000000')
	// 1 of 3 shardRange(object.metadata.uid, '0x8000000000000000', '0xd555555500000000')
	// 2 of 3 shardRange(object.metadata.uid, '0x5555555500000000', '0x8000000000000000') || shardRange(object.metadata.uid, '0xd555555500000000', '0x10000000000000000')
}
