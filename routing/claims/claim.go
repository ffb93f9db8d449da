package claims

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/routing/internal/problem"
)

// ReasonConflict is the reason of errors about a path that an older owner claims on the same gateway, listener and host.
const ReasonConflict = "PathConflict"

// Claimant is an owner that claims a path. Its age decides, so it must be that of the stored owner, not of its route.
type Claimant struct {
	Namespace, Name string
	UID             types.UID
	// Created is the creation timestamp; zero for an object that is not stored yet. Such an object loses to every other.
	Created time.Time
}

// claimantOf returns the claimant for an owner.
func claimantOf(owner metav1.Object) Claimant {
	return Claimant{
		Namespace: owner.GetNamespace(), Name: owner.GetName(), UID: owner.GetUID(), Created: owner.GetCreationTimestamp().Time,
	}
}

// Claim is an owner's claim of one path on one parent.
type Claim struct {
	// Owner is the claimant.
	Owner Claimant
	// Parent serves the path. Listener and Port restrict it to some listeners; empty and 0 mean all.
	Parent   Parent
	Listener string
	Port     int32
	// Hosts are the hostnames, the first label possibly "*". None means every host.
	Hosts []string
	// Path is the path to match; a "/" at the end of a prefix is ignored.
	Path string
	// PathType is the type of the match. Empty means a prefix.
	PathType gatewayv1.PathMatchType
	// Qualifier lists the other conditions of the match, such as headers, sorted and separated by commas. Empty means none.
	Qualifier string
}

// Parent is the gateway, or another parent, of a claim. Empty group and kind mean a Gateway.
type Parent struct {
	Group, Kind, Namespace, Name string
}

// String returns "namespace/name" for a gateway, prefixed with the kind for another parent.
func (p Parent) String() string {
	name := strings.TrimPrefix(p.Namespace+"/"+p.Name, "/")
	if p.Kind == "" || p.Kind == "Gateway" {
		return "gateway " + name
	}
	return strings.ToLower(p.Kind) + " " + name
}

// Of lists the claims of an owner's route: each path match of each rule on each parent.
func Of(owner metav1.Object, route *gatewayv1.HTTPRoute) []Claim {
	var claims []Claim
	if route == nil {
		return nil
	}
	hosts := make([]string, 0, len(route.Spec.Hostnames))
	for _, host := range route.Spec.Hostnames {
		hosts = append(hosts, string(host))
	}
	claimant := claimantOf(owner)
	for i := range route.Spec.ParentRefs {
		parent := &route.Spec.ParentRefs[i]
		claim := Claim{
			Owner: claimant,
			Parent: Parent{
				Group:     string(value(parent.Group, gatewayv1.GroupName)),
				Kind:      string(value(parent.Kind, "Gateway")),
				Namespace: string(value(parent.Namespace, gatewayv1.Namespace(route.Namespace))),
				Name:      string(parent.Name),
			},
			Listener: string(value(parent.SectionName, "")),
			Port:     value(parent.Port, 0),
			Hosts:    hosts,
		}
		for j := range route.Spec.Rules {
			for k := range route.Spec.Rules[j].Matches {
				claims = append(claims, claim.of(&route.Spec.Rules[j].Matches[k]))
			}
		}
	}
	return claims
}

// of returns the claim restricted to one match.
func (c Claim) of(match *gatewayv1.HTTPRouteMatch) Claim {
	c.Path, c.PathType = "/", gatewayv1.PathMatchPathPrefix
	if match.Path != nil {
		c.Path, c.PathType = value(match.Path.Value, "/"), value(match.Path.Type, gatewayv1.PathMatchPathPrefix)
	}
	var conditions []string
	for _, header := range match.Headers {
		conditions = append(conditions, fmt.Sprintf("header %s %s %q", strings.ToLower(string(header.Name)), value(header.Type, "Exact"), header.Value))
	}
	for _, parameter := range match.QueryParams {
		conditions = append(conditions, fmt.Sprintf("query %s %s %q", parameter.Name, value(parameter.Type, "Exact"), parameter.Value))
	}
	if match.Method != nil {
		conditions = append(conditions, "method "+string(*match.Method))
	}
	slices.Sort(conditions)
	c.Qualifier = strings.Join(conditions, ", ")
	return c
}

// Decision is the outcome of one claim.
type Decision struct {
	// Claim that was decided.
	Claim Claim
	// Winner is the claim that it lost to; nil if the claim stands.
	Winner *Claim
}

// Decisions are the outcomes of all claims, the oldest claimant first.
type Decisions []Decision

// Decide reports which claims stand. It takes claims in the order of their owners' age (then namespace, name, UID). A claim
// stands unless it conflicts with an older claim that stands. Claims on different parents, listeners, ports or hosts never
// conflict, nor do claims of one owner. Otherwise:
//
//   - Two claims with the same path, path type and qualifier conflict.
//   - Owners in different namespaces also conflict where the younger one would take requests of the older one: with a path
//     below the older prefix, an exact match of it, a qualifier such as a method, or a more specific host. The order of
//     precedence is that of HTTPRoute. A regular expression cannot be compared, so it conflicts with every claim.
//   - Owners in one namespace may nest their paths; the gateway prefers the more specific match.
//
// The result depends only on the set of claims, not on their order or on earlier decisions. An owner that is being deleted
// keeps its claims until it is gone, because its route serves requests until then.
func Decide(claims []Claim) Decisions {
	ordered := slices.Clone(claims)
	for i := range ordered {
		ordered[i] = ordered[i].canonical()
	}
	slices.SortStableFunc(ordered, compareClaims)
	decisions := make(Decisions, len(ordered))
	standing := map[Parent]*standingClaims{}
	for i := range ordered {
		claim := &ordered[i]
		decisions[i].Claim = *claim
		older := standing[claim.Parent]
		if older == nil {
			older = &standingClaims{byPath: map[string][]*Claim{}}
			standing[claim.Parent] = older
		}
		if winner := older.winner(claim); winner != nil {
			copied := *winner
			decisions[i].Winner = &copied
			continue
		}
		older.add(claim)
	}
	return decisions
}

// Of returns the decisions on one owner's claims.
func (d Decisions) Of(owner metav1.Object) Decisions {
	claimant := claimantOf(owner)
	var own Decisions
	for _, decision := range d {
		if sameClaimant(&decision.Claim.Owner, &claimant) {
			own = append(own, decision)
		}
	}
	return own
}

// Lost returns the decisions about claims that lost.
func (d Decisions) Lost() Decisions {
	var lost Decisions
	for _, decision := range d {
		if decision.Winner != nil {
			lost = append(lost, decision)
		}
	}
	return lost
}

// Err returns nil if every claim stands, else an error of category InvalidSpec and reason [ReasonConflict] that names the path, the
// parent and the winner of the first lost claim.
func (d Decisions) Err() error {
	lost := d.Lost()
	if len(lost) == 0 {
		return nil
	}
	more := ""
	if len(lost) > 1 {
		more = fmt.Sprintf(" (and %d more claims are lost)", len(lost)-1)
	}
	return problem.Invalid(ReasonConflict, nil, "%s%s: choose another path, host or listener", lost[0], more)
}

// String describes the decision; equal decisions have equal texts.
func (d Decision) String() string {
	where := fmt.Sprintf("path %s on %s", problem.Quote(d.Claim.Path), d.Claim.Parent)
	if d.Claim.Listener != "" {
		where += ", listener " + d.Claim.Listener
	}
	if d.Winner == nil {
		return where + " belongs to " + d.Claim.Owner.String()
	}
	if host, ok := commonHost(d.Winner.Hosts, d.Claim.Hosts); ok && host != "" {
		where += ", host " + host
	}
	rank := "which is older"
	if d.Winner.Owner.Created.Equal(d.Claim.Owner.Created) {
		rank = "which is as old and comes first by name"
	}
	return where + " belongs to " + d.Winner.Owner.String() + ", " + rank
}

// String describes the decisions, one line each, for [health.Component.Diagnostics].
func (d Decisions) String() string {
	var out strings.Builder
	for i := range d {
		out.WriteString(d[i].String() + "\n")
	}
	return out.String()
}

// String returns "namespace/name", or the name of a cluster-scoped owner.
func (c Claimant) String() string {
	return strings.TrimPrefix(c.Namespace+"/"+c.Name, "/")
}

// Component returns the health of an owner's claims under the given component name: Ready, or Failed with reason [ReasonConflict]. It
// never blocks applying, so that an owner without its path keeps its other children; the owner must omit the route from its plan.
func (d Decisions) Component(name string) health.Component {
	component := health.Component{Name: name, State: health.Ready, Child: true}
	if err := d.Err(); err != nil {
		component.State = health.Failed
		component.Errors, component.Diagnostics = []error{err}, d.String()
	}
	return component
}

// compareClaims orders claims by age and name of the owner, then by content.
func compareClaims(a, b Claim) int {
	if order := compareClaimants(&a.Owner, &b.Owner); order != 0 {
		return order
	}
	return cmp.Or(
		strings.Compare(a.Parent.Group, b.Parent.Group),
		strings.Compare(a.Parent.Kind, b.Parent.Kind),
		strings.Compare(a.Parent.Namespace, b.Parent.Namespace),
		strings.Compare(a.Parent.Name, b.Parent.Name),
		strings.Compare(a.Listener, b.Listener),
		cmp.Compare(a.Port, b.Port),
		strings.Compare(a.Path, b.Path),
		strings.Compare(string(a.PathType), string(b.PathType)),
		strings.Compare(a.Qualifier, b.Qualifier),
		slices.Compare(a.Hosts, b.Hosts),
	)
}

// compareClaimants orders claimants by age, then by name. An owner without timestamp is not stored yet and comes last.
func compareClaimants(a, b *Claimant) int {
	switch {
	case a.Created.IsZero() && !b.Created.IsZero():
		return 1
	case b.Created.IsZero() && !a.Created.IsZero():
		return -1
	}
	if order := a.Created.Compare(b.Created); order != 0 {
		return order
	}
	return cmp.Or(
		strings.Compare(a.Namespace, b.Namespace),
		strings.Compare(a.Name, b.Name),
		strings.Compare(string(a.UID), string(b.UID)),
	)
}

// sameClaimant compares owners, by UID where both have one.
func sameClaimant(a, b *Claimant) bool {
	if a.UID != "" && b.UID != "" {
		return a.UID == b.UID
	}
	return a.Namespace == b.Namespace && a.Name == b.Name && a.UID == b.UID
}
