// Package values draws owners whose spec is valid by the schema of their CRD: what users may write, and nobody who writes a test thinks
// of. A property test asks of each of them what must hold for all.
package values
