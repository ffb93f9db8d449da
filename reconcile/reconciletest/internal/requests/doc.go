// Package requests reads what clients ask of an API server, counts it, and makes requests fail.
package requests
