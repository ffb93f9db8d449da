package claims_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/routing/claims"
)

// TestOf checks the claims of a route, with the defaults of the API.
func TestOf(t *testing.T) {
	t.Parallel()
	owner := &metav1.ObjectMeta{Namespace: "team-a", Name: "shop", UID: "1", CreationTimestamp: metav1.NewTime(time.Unix(5, 0))}
	route := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a"}}
	route.Spec.ParentRefs = []gatewayv1.ParentReference{
		{Name: "public"},
		{Name: "mesh", Namespace: new(gatewayv1.Namespace("infra")), Group: new(gatewayv1.Group("")), Kind: new(gatewayv1.Kind("Service")), Port: new(gatewayv1.PortNumber(80))},
		{Name: "public", SectionName: new(gatewayv1.SectionName("https"))},
	}
	route.Spec.Rules = []gatewayv1.HTTPRouteRule{{Matches: []gatewayv1.HTTPRouteMatch{
		{},
		{Path: &gatewayv1.HTTPPathMatch{Type: new(gatewayv1.PathMatchExact), Value: new("/a")}, Method: new(gatewayv1.HTTPMethodGet)},
		{QueryParams: []gatewayv1.HTTPQueryParamMatch{{Name: "q", Value: "1"}}},
	}}}
	want := []string{
		"gateway team-a/public  0 / PathPrefix ",
		"gateway team-a/public  0 /a Exact method GET",
		`gateway team-a/public  0 / PathPrefix query q Exact "1"`,
		"service infra/mesh  80 / PathPrefix ",
		"service infra/mesh  80 /a Exact method GET",
		`service infra/mesh  80 / PathPrefix query q Exact "1"`,
		"gateway team-a/public https 0 / PathPrefix ",
		"gateway team-a/public https 0 /a Exact method GET",
		`gateway team-a/public https 0 / PathPrefix query q Exact "1"`,
	}
	got := claims.Of(owner, route)
	if len(got) != len(want) {
		t.Fatalf("%d claims, want %d", len(got), len(want))
	}
	for i, c := range got {
		if text := fmt.Sprintf("%s %s %d %s %s %s", c.Parent, c.Listener, c.Port, c.Path, c.PathType, c.Qualifier); text != want[i] {
			t.Errorf("claim %d is %q, want %q", i, text, want[i])
		}
		if c.Owner.String() != "team-a/shop" || !c.Owner.Created.Equal(time.Unix(5, 0)) || c.Owner.UID != "1" {
			t.Errorf("claim %d is of %+v", i, c.Owner)
		}
	}
}

// TestDecisionsName checks the description of a claim in conditions.
func TestDecisionsName(t *testing.T) {
	t.Parallel()
	claim := func(name string, second int64, hosts ...string) claims.Claim {
		return claims.Claim{
			Owner:  claims.Claimant{Name: name, Created: time.Unix(second, 0)},
			Parent: claims.Parent{Name: "public"}, Listener: "https", Hosts: hosts, Path: "/a",
		}
	}
	for name, test := range map[string]struct {
		list []claims.Claim
		want []string
	}{
		"alone": {[]claims.Claim{claim("a", 1)}, []string{`path "/a" on gateway public, listener https belongs to a`}},
		"older": {[]claims.Claim{claim("b", 2), claim("a", 1)}, []string{
			`path "/a" on gateway public, listener https belongs to a`,
			`path "/a" on gateway public, listener https belongs to a, which is older`,
		}},
		"as old": {[]claims.Claim{claim("b", 1, "*.test"), claim("a", 1, "x.test")}, []string{
			`path "/a" on gateway public, listener https belongs to a`,
			`path "/a" on gateway public, listener https, host x.test belongs to a, which is as old and comes first by name`,
		}},
		"apart": {[]claims.Claim{claim("b", 1, "b.test"), claim("a", 1, "a.test")}, []string{
			`path "/a" on gateway public, listener https belongs to a`,
			`path "/a" on gateway public, listener https belongs to b`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, decision := range claims.Decide(test.list) {
				if got := decision.String(); got != test.want[i] {
					t.Errorf("got %s\nwant %s", got, test.want[i])
				}
			}
		})
	}
}
