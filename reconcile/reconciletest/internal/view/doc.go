// Package view is the cache of one instance of an operator: like a manager's cache, except that the test controls its timing. A case can
// make it lag, and drop, duplicate and reorder events.
package view
