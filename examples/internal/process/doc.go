// Package process runs an operator for a test. It reads the operator's log and the metrics of its queues, and provides an address
// and a certificate for it.
package process
