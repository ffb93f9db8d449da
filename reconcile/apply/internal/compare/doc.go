// Package compare finds out whether an object already has what an intent wants:
// the fields of the intent are owned by its manager, exactly these, and they
// have its values.
package compare
