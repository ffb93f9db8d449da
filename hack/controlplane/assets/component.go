package assets

import (
	"fmt"
	"slices"
	"strings"
)

// component is one binary and its origin.
type component struct {
	name    string // file name of the binary
	module  string // folder of the Go module with its version, relative to the source folder
	pkg     string // import path of its main package
	require string // module whose version is the version of the binary
}

const kubernetes = "k8s.io/kubernetes"

// components lists every component in build order. Components of one version
// are built together.
func components() []component {
	return []component{
		{"etcd", ".", "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/server/v3"},
		{"kube-apiserver", ".", kubernetes + "/cmd/kube-apiserver", kubernetes},
		{"kube-controller-manager", ".", kubernetes + "/cmd/kube-controller-manager", kubernetes},
		{"kube-scheduler", ".", kubernetes + "/cmd/kube-scheduler", kubernetes},
		{"kwok", "kwok", "sigs.k8s.io/kwok/cmd/kwok", "sigs.k8s.io/kwok"},
	}
}

// Names returns the names of all components, in the order they are built.
func Names() []string {
	var names []string
	for _, c := range components() {
		names = append(names, c.name)
	}

	return names
}

// ServerNames returns the names of the components of an API server.
func ServerNames() []string {
	return []string{"etcd", "kube-apiserver"}
}

// pick returns the named components in build order.
func pick(names []string) ([]component, error) {
	for _, name := range names {
		if !slices.Contains(Names(), name) {
			return nil, fmt.Errorf("component %q is unknown, want some of %s", name, strings.Join(Names(), ", "))
		}
	}

	var picked []component
	for _, c := range components() {
		if slices.Contains(names, c.name) {
			picked = append(picked, c)
		}
	}

	return picked, nil
}

// linkerFlags returns the flags that set the version of a Kubernetes binary, which is v0.0.0-master by default. Other binaries are only
// stripped.
func linkerFlags(require, version string) string {
	flags := []string{"-s", "-w"}
	if require != kubernetes {
		return strings.Join(flags, " ")
	}

	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")

	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		flags = append(flags,
			"-X "+pkg+".gitVersion="+version,
			"-X "+pkg+".gitMajor="+major,
			"-X "+pkg+".gitMinor="+minor,
			"-X "+pkg+".gitTreeState=clean")
	}

	return strings.Join(flags, " ")
}
