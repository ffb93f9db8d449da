package claims_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/routing"
	"github.com/reconcilekit/reconcilekit/routing/claims"
)

func claimant(name string, age int64) claims.Claimant {
	return claims.Claimant{Namespace: "team-a", Name: name, UID: types.UID("uid-" + name), Created: time.Unix(1e9-age, 0)}
}

func claimOf(owner claims.Claimant, change func(*claims.Claim)) claims.Claim {
	claim := claims.Claim{Owner: owner, Parent: claims.Parent{Namespace: "infra", Name: "public"}, Path: "/shop"}
	if change != nil {
		change(&claim)
	}
	return claim
}

func TestOverlap(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		old, young func(*claims.Claim)
		conflict   bool
	}{
		"equal":                           {conflict: true},
		"other path":                      {young: func(c *claims.Claim) { c.Path = "/store" }},
		"trailing slash":                  {young: func(c *claims.Claim) { c.Path = "/shop/" }, conflict: true},
		"nested prefix":                   {young: func(c *claims.Claim) { c.Path = "/shop/cart" }},
		"same path prefix, other segment": {young: func(c *claims.Claim) { c.Path = "/shopping" }},
		"exact against prefix":            {young: func(c *claims.Claim) { c.PathType = gatewayv1.PathMatchExact }},
		"case of the path":                {young: func(c *claims.Claim) { c.Path = "/Shop" }},
		"other gateway":                   {young: func(c *claims.Claim) { c.Parent.Name = "private" }},
		"other namespace":                 {young: func(c *claims.Claim) { c.Parent.Namespace = "team-a" }},
		"defaults written out":            {young: func(c *claims.Claim) { c.Parent.Group, c.Parent.Kind = gatewayv1.GroupName, "Gateway" }, conflict: true},
		"other kind":                      {young: func(c *claims.Claim) { c.Parent.Group, c.Parent.Kind = "", "Service" }},
		"listener against all":            {young: func(c *claims.Claim) { c.Listener = "https" }, conflict: true},
		"two listeners":                   {old: func(c *claims.Claim) { c.Listener = "http" }, young: func(c *claims.Claim) { c.Listener = "https" }},
		"two ports":                       {old: func(c *claims.Claim) { c.Port = 80 }, young: func(c *claims.Claim) { c.Port = 443 }},
		"port against all":                {young: func(c *claims.Claim) { c.Port = 443 }, conflict: true},
		"host against all":                {young: func(c *claims.Claim) { c.Hosts = []string{"a.test"} }, conflict: true},
		"all against host":                {old: func(c *claims.Claim) { c.Hosts = []string{"a.test"} }, conflict: true},
		"two hosts":                       {old: func(c *claims.Claim) { c.Hosts = []string{"a.test"} }, young: func(c *claims.Claim) { c.Hosts = []string{"b.test"} }},
		"case of the host":                {old: func(c *claims.Claim) { c.Hosts = []string{"a.test"} }, young: func(c *claims.Claim) { c.Hosts = []string{"A.Test."} }, conflict: true},
		"one host of two":                 {old: func(c *claims.Claim) { c.Hosts = []string{"a.test", "b.test"} }, young: func(c *claims.Claim) { c.Hosts = []string{"c.test", "b.test"} }, conflict: true},
		"wildcard":                        {old: func(c *claims.Claim) { c.Hosts = []string{"*.test"} }, young: func(c *claims.Claim) { c.Hosts = []string{"a.test"} }, conflict: true},
		"wildcard, two labels":            {old: func(c *claims.Claim) { c.Hosts = []string{"a.b.test"} }, young: func(c *claims.Claim) { c.Hosts = []string{"*.test"} }, conflict: true},
		"wildcard against its base":       {old: func(c *claims.Claim) { c.Hosts = []string{"*.a.test"} }, young: func(c *claims.Claim) { c.Hosts = []string{"a.test"} }},
		"wildcard in wildcard":            {old: func(c *claims.Claim) { c.Hosts = []string{"*.test"} }, young: func(c *claims.Claim) { c.Hosts = []string{"*.a.test"} }, conflict: true},
		"part of a label":                 {old: func(c *claims.Claim) { c.Hosts = []string{"*.a.test"} }, young: func(c *claims.Claim) { c.Hosts = []string{"x.aa.test"} }},
		"wildcard for all hosts":          {old: func(c *claims.Claim) { c.Hosts = []string{"*"} }, young: func(c *claims.Claim) { c.Hosts = []string{"a.test"} }, conflict: true},
		"with a method against without":   {young: func(c *claims.Claim) { c.Qualifier = "method GET" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, young := claimOf(claimant("old", 2), test.old), claimOf(claimant("young", 1), test.young)
			for _, list := range [][]claims.Claim{{old, young}, {young, old}} {
				lost := claims.Decide(list).Lost()
				if got := len(lost) > 0; got != test.conflict {
					t.Fatalf("conflict = %t, want %t", got, test.conflict)
				}
				if test.conflict && (lost[0].Claim.Owner.Name != "young" || lost[0].Winner.Owner.Name != "old") {
					t.Errorf("%s lost to %s", lost[0].Claim.Owner, lost[0].Winner.Owner)
				}
			}
		})
	}
}

// TestTenants checks that owners of different namespaces cannot take each other's requests.
func TestTenants(t *testing.T) {
	t.Parallel()
	expression := gatewayv1.PathMatchRegularExpression
	for name, test := range map[string]struct {
		old, young func(*claims.Claim)
		conflict   bool
	}{
		"same path":                         {conflict: true},
		"other path":                        {young: func(c *claims.Claim) { c.Path = "/store" }},
		"same path prefix, other segment":   {young: func(c *claims.Claim) { c.Path = "/shopping" }},
		"below":                             {young: func(c *claims.Claim) { c.Path = "/shop/login" }, conflict: true},
		"far below":                         {young: func(c *claims.Claim) { c.Path = "/shop/a/b/c" }, conflict: true},
		"below the root":                    {old: func(c *claims.Claim) { c.Path = "/" }, conflict: true},
		"above":                             {young: func(c *claims.Claim) { c.Path = "/" }},
		"exact":                             {young: func(c *claims.Claim) { c.PathType = gatewayv1.PathMatchExact }, conflict: true},
		"exact with a slash":                {young: func(c *claims.Claim) { c.Path, c.PathType = "/shop/", gatewayv1.PathMatchExact }, conflict: true},
		"exact below":                       {young: func(c *claims.Claim) { c.Path, c.PathType = "/shop/login", gatewayv1.PathMatchExact }, conflict: true},
		"prefix of an exact match":          {old: func(c *claims.Claim) { c.PathType = gatewayv1.PathMatchExact }},
		"below an exact match":              {old: func(c *claims.Claim) { c.PathType = gatewayv1.PathMatchExact }, young: func(c *claims.Claim) { c.Path = "/shop/a" }},
		"method":                            {young: func(c *claims.Claim) { c.Qualifier = "method GET" }, conflict: true},
		"header":                            {young: func(c *claims.Claim) { c.Qualifier = `header x Exact "1"` }, conflict: true},
		"without a header against a header": {old: func(c *claims.Claim) { c.Qualifier = `header x Exact "1"` }},
		"two methods":                       {old: func(c *claims.Claim) { c.Qualifier = "method GET" }, young: func(c *claims.Claim) { c.Qualifier = "method POST" }},
		"another header":                    {old: func(c *claims.Claim) { c.Qualifier = `header x Exact "1"` }, young: func(c *claims.Claim) { c.Qualifier = `header y Exact "1"` }, conflict: true},
		"below, older one for a method":     {old: func(c *claims.Claim) { c.Qualifier = "method GET" }, young: func(c *claims.Claim) { c.Path = "/shop/a" }, conflict: true},
		"narrower host, path above":         {young: func(c *claims.Claim) { c.Path, c.Hosts = "/", []string{"a.test"} }, conflict: true},
		"narrower host, other path":         {young: func(c *claims.Claim) { c.Path, c.Hosts = "/store", []string{"a.test"} }},
		"wider host, path below":            {old: func(c *claims.Claim) { c.Hosts = []string{"a.test"} }, young: func(c *claims.Claim) { c.Path = "/shop/a" }},
		"wildcard, path above":              {old: func(c *claims.Claim) { c.Hosts = []string{"*.test"} }, young: func(c *claims.Claim) { c.Path, c.Hosts = "/", []string{"a.test"} }, conflict: true},
		"other host":                        {old: func(c *claims.Claim) { c.Hosts = []string{"a.test"} }, young: func(c *claims.Claim) { c.Path, c.Hosts = "/shop/a", []string{"b.test"} }},
		"other listener":                    {old: func(c *claims.Claim) { c.Listener = "http" }, young: func(c *claims.Claim) { c.Path, c.Listener = "/shop/a", "https" }},
		"other gateway":                     {young: func(c *claims.Claim) { c.Path, c.Parent.Name = "/shop/a", "private" }},
		"expression":                        {young: func(c *claims.Claim) { c.Path, c.PathType = "/st.*", expression }, conflict: true},
		"path against an expression":        {old: func(c *claims.Claim) { c.Path, c.PathType = "/st.*", expression }, conflict: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := claimant("young", 1)
			old := claimOf(claimant("old", 2), test.old)
			same := claimOf(owner, test.young)
			owner.Namespace = "team-b"
			young := claimOf(owner, test.young)
			lost := claims.Decide([]claims.Claim{young, old}).Lost()
			if got := len(lost) > 0; got != test.conflict {
				t.Fatalf("conflict = %t, want %t", got, test.conflict)
			}
			if test.conflict && lost[0].Claim.Owner.Name != "young" {
				t.Errorf("%s lost, want the younger owner", lost[0].Claim.Owner)
			}
			if name != "same path" && len(claims.Decide([]claims.Claim{same, old}).Lost()) > 0 {
				t.Error("claims of one namespace conflict")
			}
		})
	}
}

func TestDecideRank(t *testing.T) {
	t.Parallel()
	sameAge := func(namespace, name, uid string) claims.Claimant {
		return claims.Claimant{Namespace: namespace, Name: name, UID: types.UID(uid), Created: time.Unix(1e9, 0)}
	}
	for name, test := range map[string]struct{ winner, loser claims.Claimant }{
		"age before name":          {claimant("z", 2), claimant("a", 1)},
		"namespace":                {sameAge("a", "z", "2"), sameAge("b", "a", "1")},
		"name":                     {sameAge("a", "a", "2"), sameAge("a", "b", "1")},
		"uid":                      {sameAge("a", "a", "1"), sameAge("a", "a", "2")},
		"stored before not stored": {claimant("z", 1), claims.Claimant{Namespace: "team-a", Name: "a"}},
	} {
		winner, loser := claimOf(test.winner, nil), claimOf(test.loser, nil)
		for _, list := range [][]claims.Claim{{winner, loser}, {loser, winner}} {
			lost := claims.Decide(list).Lost()
			if len(lost) != 1 || lost[0].Winner.Owner != test.winner {
				t.Errorf("%s: lost = %+v", name, lost)
			}
		}
	}
}

// TestDecideChain checks that a claim that loses to an older one does not win over a younger one.
func TestDecideChain(t *testing.T) {
	t.Parallel()
	hosts := func(hosts ...string) func(*claims.Claim) { return func(c *claims.Claim) { c.Hosts = hosts } }
	decisions := claims.Decide([]claims.Claim{
		claimOf(claimant("young", 1), hosts("b.test")),
		claimOf(claimant("middle", 2), hosts("a.test", "b.test")),
		claimOf(claimant("old", 3), hosts("a.test")),
	})
	got := map[string]string{}
	for _, decision := range decisions {
		got[decision.Claim.Owner.Name] = "stands"
		if decision.Winner != nil {
			got[decision.Claim.Owner.Name] = decision.Winner.Owner.Name
		}
	}
	if diff := cmp.Diff(map[string]string{"old": "stands", "middle": "old", "young": "stands"}, got); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
	if claims.Decide(nil).Err() != nil {
		t.Error("no claims, but an error")
	}
}

func TestDecisionComponent(t *testing.T) {
	t.Parallel()
	winner, loser := metav1.ObjectMeta{Namespace: "team-a", Name: "old", UID: "1"}, metav1.ObjectMeta{Namespace: "team-b", Name: "young", UID: "2"}
	winner.CreationTimestamp, loser.CreationTimestamp = metav1.Unix(1, 0), metav1.Unix(2, 0)
	route := func(host string) *gatewayv1.HTTPRoute {
		route, err := routing.NewHTTPRoute(routing.Route{
			Namespace: "team-x", Name: "r", Parents: []gatewayv1.ParentReference{{Name: "public"}}, Hostnames: []string{host},
			Rules: []routing.Rule{{Matches: []routing.Match{
				{Path: "/shop"}, {Path: "/shop", Method: "GET", Headers: []routing.ValueMatch{{Name: "X-B", Value: "1"}, {Name: "X-A", Value: "2"}}},
			}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return route
	}
	list := append(claims.Of(&loser, route("a.test")), claims.Of(&winner, route("*.test"))...)
	decisions := claims.Decide(list)
	if component := decisions.Of(&winner).Component("Path"); component.State != health.Ready || component.Errors != nil {
		t.Errorf("winner: %+v", component)
	}
	component := decisions.Of(&loser).Component("Path")
	if component.GetState() != health.Failed || component.GetReason() != claims.ReasonConflict {
		t.Errorf("loser: %s, %s", component.GetState(), component.GetReason())
	}
	const want = `path "/shop" on gateway team-x/public, host a.test belongs to team-a/old, which is older (and 1 more claims are lost): choose another path, host or listener`
	if got := component.GetMessage(); got != want {
		t.Errorf("message = %q, want %q", got, want)
	}
	if blocking := health.Blocking([]health.Component{component}); len(blocking) != 0 {
		t.Errorf("a conflicting path blocks the other children: %v", blocking)
	}
	if got := decisions.Of(&winner)[0].String(); !strings.HasSuffix(got, "belongs to team-a/old") {
		t.Errorf("String() = %q", got)
	}
	if got := list[1].Qualifier; got != `header x-a Exact "2", header x-b Exact "1", method GET` {
		t.Errorf("qualifier = %q", got)
	}
	if claims.Of(&winner, nil) != nil {
		t.Error("no route, but claims")
	}
}
