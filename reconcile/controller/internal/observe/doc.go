// Package observe counts, traces and remembers the passes of a controller, and reports whether the process can serve: metrics, spans,
// the last passes of each owner for explanations, and readiness.
package observe
