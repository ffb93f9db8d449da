// Package watching turns events of the declared kinds into passes of the owners that they concern, and starts and stops the watches of
// kinds whose CRD may be missing.
package watching
