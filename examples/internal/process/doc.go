// Package process has what a test needs that runs an operator beside itself: its log, an address to listen on, and a certificate to serve with.
package process
