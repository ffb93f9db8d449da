// Package rights makes the rules of RBAC out of single grants.
package rights
