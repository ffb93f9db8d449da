// Package claims decides which owner gets a path that several owners want on the same gateway, listener and host: the oldest one. The
// result is a pure function of the set of claims, so every owner computes the same one. Owners in different namespaces cannot take each
// other's requests with nested paths, exact matches, methods, headers or more specific hosts; see [Decide].
//
//	list := claims.Of(owner, plannedRoute)
//	for _, other := range others {
//		list = append(list, claims.Of(other.Owner, other.Route)...)
//	}
//	own := claims.Decide(list).Of(owner)
//
// # When to use which
//
//	what a route claims                     Of
//	which claims stand                      Decide
//	an error or a component for an owner    Decisions.Of, then Err or Component
//	the claims that were lost               Decisions.Lost
//
// Gateway API implementations settle conflicts by age as well
// (https://gateway-api.sigs.k8s.io/api-types/httproute/#merging); deciding before the apply keeps a loser from taking requests at all and
// names the winner in its condition.
package claims
