package claims_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/routing/claims"
)

// FuzzDecide checks that the result depends only on the set of claims, that no two winning claims of different owners
// conflict, and that each losing claim conflicts with an older winning claim.
func FuzzDecide(f *testing.F) {
	f.Add(uint64(1), uint8(4))
	f.Add(uint64(99), uint8(40))
	f.Fuzz(func(t *testing.T, seed uint64, count uint8) {
		random := rand.New(rand.NewPCG(seed, 1))
		list := randomClaims(random, int(count)%64)
		decisions := claims.Decide(list)
		shuffled := append([]claims.Claim{}, list...)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if diff := cmp.Diff(decisions, claims.Decide(shuffled)); diff != "" {
			t.Errorf("the result depends on the order of the claims:\n%s", diff)
		}
		checkDecisions(t, decisions)
	})
}

func checkDecisions(t *testing.T, decisions claims.Decisions) {
	t.Helper()
	for i, decision := range decisions {
		if decision.Winner == nil {
			for _, other := range decisions[:i] {
				if other.Winner == nil && rivals(decision.Claim, other.Claim) {
					t.Errorf("two conflicting claims both win:\n%+v\n%+v", decision.Claim, other.Claim)
				}
			}
			continue
		}
		if !rivals(decision.Claim, *decision.Winner) {
			t.Errorf("%+v lost to %+v without a conflict", decision.Claim, *decision.Winner)
		}
		stands := false
		for _, other := range decisions[:i] {
			stands = stands || other.Winner == nil && cmp.Equal(other.Claim, *decision.Winner)
		}
		if !stands {
			t.Errorf("the winner %+v does not precede %+v", *decision.Winner, decision.Claim)
		}
	}
}

// rivals reimplements the rule of Decide by trying concrete requests.
func rivals(young, old claims.Claim) bool {
	if young.Owner.UID == old.Owner.UID || young.Parent != old.Parent ||
		young.Listener != "" && old.Listener != "" && young.Listener != old.Listener || !shareHost(young.Hosts, old.Hosts) {
		return false
	}
	if young.Path == old.Path && young.PathType == old.PathType {
		return true
	}
	return young.Owner.Namespace != old.Owner.Namespace && takesRequest(young, old)
}

// takesRequest returns true if a gateway sends some request to the younger claim although the older one matches it, too.
func takesRequest(young, old claims.Claim) bool {
	for _, host := range []string{"a.test", "b.test", "x.a.test", "y.x.a.test", "elsewhere.example"} {
		for _, path := range []string{"/", "/a", "/a/", "/a/b", "/a/b/c", "/other"} {
			if rank := rankOf(old, host, path); rank != nil && slices.Compare(rankOf(young, host, path), rank) >= 0 {
				return true
			}
		}
	}
	return false
}

// rankOf returns the precedence of a claim for a request: length of the host, exact before prefix, length of the path.
// It returns nil if the claim does not match.
func rankOf(c claims.Claim, host, path string) []int {
	longest := -1
	for _, pattern := range c.Hosts {
		if pattern == host {
			longest = max(longest, 1000)
		} else if suffix, ok := strings.CutPrefix(pattern, "*"); ok && strings.HasSuffix(host, suffix) {
			longest = max(longest, len(suffix))
		}
	}
	if len(c.Hosts) == 0 {
		longest = 0
	}
	exact := c.PathType == gatewayv1.PathMatchExact
	matches := path == c.Path || !exact && (c.Path == "/" || strings.HasPrefix(path, c.Path+"/"))
	switch {
	case longest < 0 || !matches:
		return nil
	case exact:
		return []int{longest, 1, len(c.Path)}
	}
	return []int{longest, 0, len(c.Path)}
}

func shareHost(a, b []string) bool {
	serves := func(hosts []string, host string) bool {
		for _, pattern := range hosts {
			if suffix, ok := strings.CutPrefix(pattern, "*"); ok && strings.HasSuffix(host, suffix) || pattern == host {
				return true
			}
		}
		return len(hosts) == 0
	}
	for _, host := range []string{"a.test", "b.test", "x.a.test", "y.x.a.test", "elsewhere.example"} {
		if serves(a, host) && serves(b, host) {
			return true
		}
	}
	return false
}

func randomClaims(random *rand.Rand, count int) []claims.Claim {
	hosts := [][]string{nil, {"a.test"}, {"b.test"}, {"*.test"}, {"*.a.test"}, {"x.a.test", "b.test"}}
	list := make([]claims.Claim, 0, count)
	for range count {
		owner := random.IntN(12)
		name := string(rune('a' + owner))
		list = append(list, claims.Claim{
			Owner:    claims.Claimant{Namespace: []string{"ns", "other"}[owner%2], Name: name, UID: types.UID(name), Created: time.Unix(int64(owner/3), 0)},
			Parent:   claims.Parent{Namespace: "infra", Name: []string{"x", "y"}[random.IntN(2)]},
			Listener: []string{"", "http", "https"}[random.IntN(3)],
			Hosts:    hosts[random.IntN(len(hosts))],
			Path:     []string{"/", "/a", "/a/", "/a/b"}[random.IntN(4)],
			PathType: []gatewayv1.PathMatchType{"", gatewayv1.PathMatchExact}[random.IntN(2)],
		})
	}
	return list
}
