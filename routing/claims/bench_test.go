package claims_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/routing/claims"
)

func BenchmarkDecide(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	list := make([]claims.Claim, 1000)
	for i := range list {
		id := types.UID(rune('a'+i%26)) + types.UID(rune('a'+i/26%26)) + types.UID(rune('a'+i/676))
		list[i] = claims.Claim{
			Owner:  claims.Claimant{Namespace: "ns", Name: string(id), UID: id, Created: time.Unix(random.Int64N(1e6), 0)},
			Parent: claims.Parent{Namespace: "infra", Name: "public"},
			Path:   "/" + string(id),
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(claims.Decide(list).Lost()) != 0 {
			b.Fatal("distinct paths conflict")
		}
	}
}
