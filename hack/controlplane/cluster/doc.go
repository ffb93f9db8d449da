// Package cluster runs a Kubernetes control plane as plain processes: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, and
// kwok, which simulates one node and its pods.
//
// A cluster outlives the process that started it. One folder in the cache contains its certificates, logs, data and a state file with the
// processes. [Stop] ends these processes and removes the folder.
package cluster
