// Package apiserver is an API server for tests that need speed: the tracker of client-go's fake clients, with what they leave
// out. It has UIDs, versions, generations, times, defaults for everyday kinds and by the schemas of definitions, field
// ownership, dry runs, preconditions and finalizers, and refuses what the rules of everyday kinds and the schemas forbid.
package apiserver
