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
//	the claims of a route                   Of
//	the decision on all claims              Decide
//	an error or a component for an owner    Decisions.Of, then Err or Component
//	the claims that were lost               Decisions.Lost
//
// Gateway API implementations also resolve conflicts by age (https://gateway-api.sigs.k8s.io/api-types/httproute/#merging). Deciding
// before the apply keeps a losing route from serving any request, and its owner's condition can name the winner.
package claims
