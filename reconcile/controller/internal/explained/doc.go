// Package explained answers why owners are as they are, out of what is remembered of their last passes and what the cache has of them:
// as data, and over HTTP as text, JSON and pages. It sends no request.
package explained
