// Package requestlimit counts what one pass of one owner asks of the API server, and refuses what exceeds the limit. The pipeline
// sets the limit in the context of a pass, the clients of the engine ask here before they send.
package requestlimit
