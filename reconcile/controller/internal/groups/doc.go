// Package groups holds the owners that are no objects, groups and singletons: what their last passes found, who reads it, and what
// stands for the API server in their passes.
package groups
