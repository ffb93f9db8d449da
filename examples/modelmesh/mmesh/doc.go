// Package mmesh speaks ModelMesh's gRPC interface: the three calls of the service mmesh.ModelMesh that the operator makes,
// with their messages on the wire, and a server side for stand-ins.
package mmesh
