// Package recent remembers results of functions for the arguments that were asked for last, by the fingerprint of the arguments.
package recent
