// Package groups stores the owners that are not objects, groups and singletons: the results of their last passes and the owners that read
// them. It replaces the API server in their passes.
package groups
