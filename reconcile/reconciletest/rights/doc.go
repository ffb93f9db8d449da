// Package rights makes an operator use the permissions that it needs only when something fails: [RefusedOnce] and [Outdated]. The method
// Rights of an environment.Environment returns an account that has the rules of the operator's page and nothing else.
package rights
