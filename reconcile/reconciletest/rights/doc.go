// Package rights makes an operator use permissions that it needs only after a failure: [RefusedOnce] and [Outdated]. The method Rights of
// an environment.Environment returns an account that has only the rules of the operator's page.
package rights
