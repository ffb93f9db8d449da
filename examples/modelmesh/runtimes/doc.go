// Package runtimes derives what ModelMesh runs for a runtime: the labels by which models find it, the constraints of the mesh, and
// its Deployment. Everything here is a function of its arguments.
package runtimes
