// Package multicluster provides the manager of controllers whose owners are in one cluster and all other kinds in another one. Its client,
// cache and mapper use the cluster of the kind.
package multicluster
