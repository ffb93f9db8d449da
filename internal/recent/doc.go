// Package recent caches recent results of functions by the fingerprint of the arguments.
package recent
