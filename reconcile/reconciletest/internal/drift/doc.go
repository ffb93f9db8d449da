// Package drift lists the cases in which others disturb a cluster in steady state: they edit, delete and take over children, change inputs,
// delay deletions with finalizers, remove a kind. Each case checks the result.
package drift
