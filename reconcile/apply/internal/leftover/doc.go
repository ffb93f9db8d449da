// Package leftover scans the cache once for all owners of an engine, to know of
// which sets all members are planned.
package leftover
