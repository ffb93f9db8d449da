package shards

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// MaxCount is the largest number of shards: the last shard has up to MaxCount-1 ranges of the hash, and proxies accept requests of
// about 8 KB.
const MaxCount = 64

// A UID is hashed as by the API server for a shard selector: FNV-1a of 64 bits (KEP-5866, k8s.io/apimachinery/pkg/sharding).
// Ranges begin and end at multiples of 1<<unusedBits, so that the end of the last one fits into 64 bits.
const (
	unusedBits = 32
	space      = 1 << (64 - unusedBits)
)

// span is a half-open range of the hash.
type span struct{ from, to uint64 }

// Division maps ranges of the hash of UIDs to shards.
type Division struct{ shards [][]span }

// Divide returns the division into count shards of equal size. An additional shard takes the same part of each of the others, and no other
// owner moves: the ranges derive from those of one shard less.
func Divide(count int) Division {
	shards := [][]span{{{0, space}}}
	for n := 2; n <= count; n++ {
		var added []span
		for i := range shards {
			var given []span
			shards[i], given = shorten(shards[i], space/uint64(n))
			added = append(added, given...)
		}
		shards = append(shards, merge(added))
	}
	return Division{shards}
}

// shorten removes ranges from the end until the rest has the size.
func shorten(spans []span, size uint64) (rest, taken []span) {
	for _, s := range spans {
		keep := min(s.to-s.from, size)
		size -= keep
		if keep > 0 {
			rest = append(rest, span{s.from, s.from + keep})
		}
		if s.from+keep < s.to {
			taken = append(taken, span{s.from + keep, s.to})
		}
	}
	return rest, taken
}

// merge sorts ranges and joins adjacent ones.
func merge(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int {
		if a.from < b.from {
			return -1
		}
		return 1
	})
	out := spans[:0]
	for _, s := range spans {
		if last := len(out) - 1; last >= 0 && out[last].to == s.from {
			out[last].to = s.to
			continue
		}
		out = append(out, s)
	}
	return out
}

// Of returns the shard of an object.
func (d Division) Of(uid types.UID) int {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(uid)) // never fails
	at := hash.Sum64() >> unusedBits
	return slices.IndexFunc(d.shards, func(spans []span) bool {
		return slices.ContainsFunc(spans, func(s span) bool { return s.from <= at && at < s.to })
	})
}

// Select returns the selection of one shard.
func (d Division) Select(shard int) Selection {
	return Selection{shardSelector: selector(d.shards[shard])}
}

// selector returns the text of metav1.ListOptions.ShardSelector.
func selector(spans []span) string {
	texts := make([]string, len(spans))
	for i, s := range spans {
		texts[i] = fmt.Sprintf("shardRange(object.metadata.uid, '%s', '%s')", bound(s.from), bound(s.to))
	}
	return strings.Join(texts, " || ")
}

// bound formats a bound of a range for the API server: 16 digits, or 17 for the end of the last range.
func bound(at uint64) string { return fmt.Sprintf("0x%08x%08x", at, 0) }
