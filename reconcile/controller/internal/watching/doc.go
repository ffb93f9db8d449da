// Package watching maps events of the declared kinds to passes of the owners that they concern. It starts and stops the watches of
// kinds whose CRD may be missing.
package watching
