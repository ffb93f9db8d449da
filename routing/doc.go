// Package routing turns an owner's wishes into Gateway API routes: path templates, layered settings, timeouts, the
// HTTPRoute itself, its health, and who gets a path that two owners want. Everything in it is a pure function of its
// arguments: no client, no clock, and the same bytes for the same input.
//
// # Paths
//
// A path template is literal text with JSONPath expressions over the owner in braces:
//
//	/{.metadata.namespace}/{.metadata.name}                   /team-a/shop
//	/{.metadata.labels['example.com/tenant']}/v1              /blue/v1
//	{.metadata.annotations['example.com/path']}               an annotation in brackets may hold several segments
//	/apps/{.spec.image}                                       one expression, one segment: /apps/acme-shop-1-2
//	/\{literal\}                                              escaped braces; with EncodedSegments /%7Bliteral%7D
//
// These are refused, with an error that names the field, the template and what is wrong:
//
//	/{.metadata.name            a brace that is not closed; likewise }, {{ and {}
//	/{metadata.name}            no dot before the field
//	/{.metadata.labels.nope}    a key that the object does not have, a null, a list or a map
//	/{.metadata.labels.*}       several results, unless there is one label
//	/{range .spec.env[*]}{end}  loops
//	/___                        nothing DNS-safe left: the path would be "/"
//	/{..name}                   on a large object: a template has a budget of steps and results, see [PathBudget]
//
// [ParsePath] compiles, [PathTemplate.Render] renders; a [PathCache] keeps what was compiled. Segments are DNS-1123 labels
// by default, and percent-encoded text with [EncodedSegments].
//
// # Layers
//
// [Resolve] reads settings from layers, the most specific first, and remembers which layer decided; an explicit false, zero
// or empty string wins over the layers below. [First] and [MergeMaps] do the same for any other setting.
//
// # Timeouts
//
// [ParseTimeout] and [FormatTimeout] know the durations of GEP-2257: "30s", "1m30s", "1s500ms" and "0s" (no timeout) are
// valid; "1.5s", "100us", "-5s", "1d", "30" and "100000h" are not.
//
// # Routes
//
// [NewHTTPRoute] builds the object from a [Route] and refuses what the CRD would refuse. [Health] reads what the planned
// gateways say about it. [Decide] settles which of several owners gets a path.
//
// The package plans and judges; it does not read gateways, nor does it check that a listener or a backend exists.
package routing
