// Package observe counts, traces and remembers the reconciliations of a controller, reports whether the process can serve, and explains why
// owners are as they are: metrics, spans, readiness, and explanations as data and over HTTP. It sends no request.
package observe
