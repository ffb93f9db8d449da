package claims_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/routing/claims"
)

func ExampleDecide() {
	claim := func(name string, year int) claims.Claim {
		return claims.Claim{
			Owner:  claims.Claimant{Namespace: "team-a", Name: name, Created: time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)},
			Parent: claims.Parent{Namespace: "infra", Name: "public"},
			Path:   "/shop",
		}
	}
	for _, decision := range claims.Decide([]claims.Claim{claim("young", 2026), claim("old", 2025)}) {
		fmt.Println(decision.Claim.Owner, "stands:", decision.Winner == nil)
	}
	late := &metav1.ObjectMeta{Namespace: "team-a", Name: "young"}
	fmt.Println(claims.Decide([]claims.Claim{claim("young", 2026), claim("old", 2025)}).Of(late).Err())
	// Output:
	// team-a/old stands: true
	// team-a/young stands: false
	// PathConflict: path "/shop" on gateway infra/public belongs to team-a/old, which is older: choose another path, host or listener
}
