// Package chart tests the Helm charts of the examples with Helm's own library. It is a module of its own, as that library brings many
// others along.
package chart
