// Package memory is a ModelMesh in memory, for tests and demos: it has vmodels, and loads nothing.
package memory
