// Package multicluster is the manager of controllers whose owners are in one cluster and all other kinds in another one: its client, its
// cache and its mapper ask the cluster that a kind is in.
package multicluster
