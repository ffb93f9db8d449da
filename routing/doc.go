// Package routing builds Gateway API routes for an owner: it resolves layered settings, formats timeouts, builds the HTTPRoute and
// assesses its health. All functions are pure: they use no client and no clock, and return the same bytes for the same input.
//
// # When to use which
//
//	the settings of the owner and its configuration  Resolve, then Settings
//	the path, from a template or by default          Settings.Path; package routing/pathtemplate for a template alone
//	the timeout of requests                          Settings.RequestTimeout; ParseTimeout and FormatTimeout for a value alone
//	the gateway to attach to                         Settings.Parent
//	the object to apply                              Settings.HTTPRoute; NewHTTPRoute without settings
//	the health of the applied route                  Health
//	which of several owners gets a path              package routing/claims
//
// # Layers
//
// [Resolve] merges the settings of layers, the most specific first, and records the layer that set each value. An explicit false, zero or
// empty string wins over less specific layers. Use package layers for other settings.
//
// # Timeouts
//
// [ParseTimeout] and [FormatTimeout] implement the durations of GEP-2257: "30s", "1m30s", "1s500ms" and "0s" (no timeout) are valid;
// "1.5s", "100us", "-5s", "1d", "30" and "100000h" are not.
//
// # Errors
//
// Errors are of category InvalidSpec: a retry does not help, the user has to change the owner. Their reasons are PathTemplateInvalid,
// TimeoutInvalid, [ReasonGatewayNotConfigured] and HTTPRouteInvalid.
//
// The package does not read gateways and does not check that a listener or a backend exists.
package routing
