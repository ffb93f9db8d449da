package controller

// deferral is what a pass waits for when a cache is stale.
const (
	waitsForCache = "deferred: the cache does not show the last write yet"
	waitsForRest  = "deferred: the plan comes out different in every pass"
)
