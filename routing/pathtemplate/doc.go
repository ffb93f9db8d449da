// Package pathtemplate renders route paths for Gateway API routes from templates that users write. All functions are pure.
//
// A path template is literal text with JSONPath expressions over the owner in braces:
//
//	/{.metadata.namespace}/{.metadata.name}                   /team-a/shop
//	/{.metadata.labels['example.com/tenant']}/v1              /blue/v1
//	{.metadata.annotations['example.com/path']}               an annotation in brackets may hold several segments
//	/apps/{.spec.image}                                       one expression, one segment: /apps/acme-shop-1-2
//	/\{literal\}                                              escaped braces; encoded /%7Bliteral%7D
//
// These are rejected, with an error that names the field, the template and the problem:
//
//	/{.metadata.name            a brace that is not closed; likewise }, {{ and {}
//	/{metadata.name}            no dot before the field
//	/{.metadata.labels.nope}    a key that the object does not have, a null, a list or a map
//	/{.metadata.labels.*}       several results, unless there is one label
//	/{range .spec.env[*]}{end}  loops
//	/___                        nothing DNS-safe left: the path would be "/"
//	/{..name}                   on a large object: a template has a budget of steps and results, see [Options]
//
// [Parse] compiles a template, [Template.Render] renders it, and a [Cache] keeps compiled templates. Segments are DNS-1123 labels by
// default, and percent-encoded text with [Options].Encoded. [Default] is the path of an owner without a template. If template, timeout
// and gateway come from several layers, use routing.Resolve, which uses this package.
//
// Expressions are those of kubectl (https://kubernetes.io/docs/reference/kubectl/jsonpath/) without range and end; the limits of a path
// are those of an HTTPRoute match (https://gateway-api.sigs.k8s.io/reference/spec/#httppathmatch).
package pathtemplate
