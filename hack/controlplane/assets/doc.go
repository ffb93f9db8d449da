// Package assets provides the components of a Kubernetes control plane in a cache folder outside the source tree.
//
// [Ensure] is the entry point. It returns a folder with the requested components and provides those that are missing or outdated: it
// downloads etcd and kube-apiserver if possible, and builds the others from their Go modules. If KUBEBUILDER_ASSETS is set, it uses that
// folder and builds nothing.
package assets
