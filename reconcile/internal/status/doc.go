// Package status writes the status of an owner, in one request, or in none if nothing changes.
//
// A status may have several writers. A [Writer] stores the status of its controller and keeps the fields and conditions of other field
// managers. If conditions are a map list with the key type, it uses server-side apply, else a merge patch with the resourceVersion of the
// object that it has read.
package status
