// Package observe counts, traces and records the passes of a controller. It provides metrics, spans, readiness checks, and explanations of
// owners as data and over HTTP. It sends no requests.
package observe
