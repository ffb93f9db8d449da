package tracking_test

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/tracking"
)

// BenchmarkMemory reports the bytes of a tracked read, for objects that one owner reads and for shared ones.
func BenchmarkMemory(b *testing.B) {
	const count = 20_000
	names := make([]string, count)
	for i := range names {
		names[i] = fmt.Sprint("owner-", i)
	}
	reads := [...]string{"a", "b", "c", "d", "e"}
	measure := func(namespace func(owner string) string) func(b *testing.B) {
		return func(b *testing.B) {
			for b.Loop() {
				var before, after runtime.MemStats
				tracker := tracking.Fixture(nil)
				runtime.GC()
				runtime.ReadMemStats(&before)
				for _, n := range names {
					tracker.Pass(types.NamespacedName{Namespace: "ns", Name: n}, func(s *tracking.Reads) {
						for _, read := range reads {
							s.Get(namespace(n), read)
						}
					})
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/count/float64(len(reads)), "B/read")
				runtime.KeepAlive(tracker)
			}
		}
	}
	b.Run("own", measure(func(owner string) string { return owner }))
	b.Run("shared", measure(func(string) string { return "shared" }))
}

// BenchmarkPass measures the tracker in a reconciliation that repeats ten reads.
func BenchmarkPass(b *testing.B) {
	tracker := tracking.Fixture(nil)
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
	reads := func(s *tracking.Reads) {
		for _, n := range names {
			s.Get("ns", n)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		tracker.Pass(name("owner"), reads)
	}
}

// BenchmarkConcerned finds the owner of one of ten thousand selectors.
func BenchmarkConcerned(b *testing.B) {
	tracker := tracking.Fixture(nil)
	for i := range 10_000 {
		tracker.Pass(name(fmt.Sprint("owner-", i)), func(s *tracking.Reads) {
			s.List("ns", parse(b, fmt.Sprint("app=x,owner=", i)), nil)
		})
	}
	changed := object("ns", "x", map[string]string{"app": "x", "owner": "77"})
	b.ReportAllocs()
	for b.Loop() {
		tracker.Concerned(changed, changed)
	}
}

// BenchmarkConcernedByField finds the owner of one of many lists by the value of a field.
func BenchmarkConcernedByField(b *testing.B) {
	for _, owners := range []int{100, 1000, 5000, 20_000} {
		b.Run(strconv.Itoa(owners), func(b *testing.B) {
			tracker, _ := fieldReaders(owners)
			changed := object("ns", "x", nil)
			changed.SetAnnotations(map[string]string{"colours": "colour-77"})
			b.ReportAllocs()
			for b.Loop() {
				tracker.Concerned(changed, changed)
			}
		})
	}
}
