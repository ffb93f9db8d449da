// Package rights splits RBAC rules into single permissions and checks requests against rules.
package rights
