// Package mmesh implements the client of ModelMesh's gRPC interface: three calls of the service mmesh.ModelMesh, with the encoding
// of their messages. It also has a server for stubs.
package mmesh
