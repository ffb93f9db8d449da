// Package memory implements ModelMesh in memory, for tests and demos. It stores vmodels and loads nothing.
package memory
