// Package dryrun runs passes without their writes. It replaces the engine, the status writer and the transport, and records what they would
// do. Its transport refuses every request that is not a read.
package dryrun
