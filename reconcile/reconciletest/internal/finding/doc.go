// Package finding defines the checks, the findings grouped by cause, and the findings that a system accepts.
package finding
