// Package etcd follows what ModelMesh keeps in etcd: its vmodels and its models, so that the owner of one learns of a change
// that it has not asked for. What has changed is read from ModelMesh itself; an event only names it.
package etcd
