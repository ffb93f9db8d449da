// Package assets builds the components of a Kubernetes control plane from
// their Go modules into a cache folder outside the source tree.
//
// [Ensure] is the whole package: it returns a folder that holds the wanted
// components and builds only what is missing or out of date. A folder named by
// KUBEBUILDER_ASSETS wins; then nothing is built.
package assets
