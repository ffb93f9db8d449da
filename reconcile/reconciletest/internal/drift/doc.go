// Package drift lists the cases in which others do something to a world at rest: they edit, delete and take over children, change what the
// operator reads, hold what is to go, take a kind away. Each looks at what becomes of it.
package drift
