// Package etcd watches the keys of vmodels and models that ModelMesh writes, so that changes that the operator did not request
// enqueue the owner. An event only names a vmodel; its state is read from ModelMesh.
package etcd
