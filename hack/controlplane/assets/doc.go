// Package assets provides the components of a Kubernetes control plane in a
// cache folder outside the source tree.
//
// [Ensure] is the only entry point. It returns a folder with the wanted
// components and provides only what is missing or out of date: it downloads
// etcd and kube-apiserver where it can, and builds the rest from its Go
// modules. A folder named by KUBEBUILDER_ASSETS wins; then nothing is built.
package assets
