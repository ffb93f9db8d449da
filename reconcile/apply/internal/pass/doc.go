// Package pass holds what one pass knows of an owner and of its planned
// children, and what all passes of an engine share.
package pass
