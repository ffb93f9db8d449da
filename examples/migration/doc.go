// Package migration is one operator twice: before, written by hand with CreateOrUpdate, and after, on the SDK. Its test plays the way from
// one to the other and back on a real API server; docs/migration.md shows its code.
package migration
