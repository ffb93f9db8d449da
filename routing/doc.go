// Package routing turns an owner's wishes into Gateway API routes: layered settings, timeouts, the HTTPRoute itself and its health.
// Everything in it is a pure function of its arguments: no client, no clock, and the same bytes for the same input.
//
// # When to use which
//
//	what owner and configuration say together        Resolve, then Settings
//	the path, from a template or by default          Settings.Path; package routing/pathtemplate for a template alone
//	the timeout of requests                          Settings.RequestTimeout; ParseTimeout and FormatTimeout for a value alone
//	the gateway to attach to                         Settings.Parent
//	the object to apply                              Settings.HTTPRoute; NewHTTPRoute without settings
//	how the applied route does                       Health
//	which of several owners gets a path              package routing/claims
//
// # Layers
//
// [Resolve] reads settings from layers, the most specific first, and remembers which layer decided; an explicit false, zero
// or empty string wins over the layers below. Package layers does the same for any other setting.
//
// # Timeouts
//
// [ParseTimeout] and [FormatTimeout] know the durations of GEP-2257: "30s", "1m30s", "1s500ms" and "0s" (no timeout) are
// valid; "1.5s", "100us", "-5s", "1d", "30" and "100000h" are not.
//
// # Errors
//
// Errors are of category InvalidSpec; an edit of the owner mends them, waiting does not. Their reasons are PathTemplateInvalid,
// TimeoutInvalid, [ReasonGatewayNotConfigured] and HTTPRouteInvalid.
//
// The package plans and judges; it does not read gateways, nor does it check that a listener or a backend exists.
package routing
