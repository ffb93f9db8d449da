// Package gate holds back what a plan wants to wait: it stands between the resolved children and the decisions about them, so that
// what waits counts as planned and nothing is sent for it.
package gate
