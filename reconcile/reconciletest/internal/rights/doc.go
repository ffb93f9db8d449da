// Package rights takes rules of RBAC apart and holds requests against them.
package rights
