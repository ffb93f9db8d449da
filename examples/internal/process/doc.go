// Package process runs an operator for a test: it reads the operator's log and the metrics of its queues, and makes an address to listen on
// and a certificate to serve with.
package process
