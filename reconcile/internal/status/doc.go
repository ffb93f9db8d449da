// Package status writes the status of an owner: in one request where something has to change, in none where nothing has.
//
// A status has several writers. A [Writer] stores what its controller decided and leaves the fields and conditions of other
// field managers alone. Where conditions are a list with the key type it uses server-side apply, elsewhere a merge patch with
// the resourceVersion that the decision was made on.
package status
