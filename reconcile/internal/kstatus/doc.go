// Package kstatus sets the conditions Stalled and Reconciling, by which tools
// that wait for any kind tell progress from failure.
package kstatus
