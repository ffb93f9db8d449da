// Package apiserver is a fast API server for tests. It extends the tracker of client-go's fake clients by UIDs, versions, generations,
// times, defaults for common kinds and by the schemas of definitions, field ownership, dry runs, preconditions, finalizers and
// validation.
package apiserver
