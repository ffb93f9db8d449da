// Package rights converts permissions to RBAC rules.
package rights
