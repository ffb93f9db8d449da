// Package cluster runs a Kubernetes control plane as plain processes: etcd,
// kube-apiserver, kube-controller-manager, kube-scheduler, and kwok, which
// plays one node and the pods on it.
//
// A cluster outlives the process that started it. Everything about it is in
// one folder below the cache: certificates, logs, data and a state file with
// the processes, so that [Stop] ends exactly these and removes the folder.
package cluster
