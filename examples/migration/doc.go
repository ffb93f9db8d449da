// Package migration contains one operator twice: before, written with CreateOrUpdate, and after, on the SDK. Its test migrates from
// one to the other and back on a real API server. docs/migration.md shows its code.
package migration
