package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// product is the content of examples/<name>.
type product struct {
	name    string
	root    string // of the repository
	crds    []manifest
	foreign []manifest // CRDs of other projects
	hooks   []manifest // configurations of admission
	samples []manifest
	script  script
	standin bool // a program simulates the controllers of foreign kinds
}

// gatewayGroup is the API group whose CRDs are in a Go module that the examples require.
const gatewayGroup = "gateway.networking.k8s.io"

// findProduct reads the manifests of a product.
func findProduct(name string) (product, error) {
	dir, err := os.Getwd()
	if err != nil {
		return product{}, fmt.Errorf("find the repository: %w", err)
	}

	root, err := repository(dir)
	if err != nil {
		return product{}, err
	}

	return readProduct(root, name)
}

func readProduct(root, name string) (product, error) {
	p := product{name: name, root: root}
	folder := filepath.Join(root, "examples", name)

	if _, err := os.Stat(filepath.Join(folder, "main.go")); err != nil || name != filepath.Base(name) {
		return p, fmt.Errorf("no example %q, want PRODUCT to be one of: %s", name, strings.Join(productNames(root), ", "))
	}

	var err error
	if p.samples, err = readManifests(filepath.Join(folder, "config", "samples")); err != nil {
		return p, err
	}

	if len(p.samples) == 0 {
		return p, fmt.Errorf("examples/%s/config/samples has no object to apply", name)
	}

	// Objects that only the steps of the demo apply are not samples for users.
	extra, err := readManifests(filepath.Join(folder, "demo", "objects"))
	if err != nil {
		return p, err
	}

	p.samples = append(p.samples, extra...)

	if p.hooks, err = readManifests(filepath.Join(folder, "config", "webhook")); err != nil {
		return p, err
	}

	if err := p.readCRDs(folder); err != nil {
		return p, err
	}

	_, err = os.Stat(filepath.Join(folder, "standin"))
	p.standin = err == nil

	if p.script, err = readScript(p.scriptFile()); err != nil {
		return p, err
	}

	if err := p.script.rehearse(p.samples); err != nil {
		return p, fmt.Errorf("script %s: %w", p.scriptFile(), err)
	}

	return p, nil
}

// readCRDs reads the CRDs of the product, and the required ones of other projects.
func (p *product) readCRDs(folder string) error {
	all, err := readManifests(filepath.Join(folder, "config"))
	if err != nil {
		return err
	}

	own := filepath.Join(folder, "config", "crd") + string(filepath.Separator)
	usesGateway := false

	for _, m := range all {
		switch {
		case m.object.GetKind() == "CustomResourceDefinition" && strings.HasPrefix(m.file, own):
			p.crds = append(p.crds, m)
		case m.object.GetKind() == "CustomResourceDefinition":
			p.foreign = append(p.foreign, m)
		default:
			usesGateway = usesGateway || strings.Contains(fmt.Sprint(m.object.Object), gatewayGroup)
		}
	}

	if usesGateway {
		gateway, err := gatewayCRDs(p.root)
		if err != nil {
			return err
		}

		p.foreign = append(p.foreign, gateway...)
	}

	return nil
}

// scriptFile returns the path of the script, which may not exist.
func (p product) scriptFile() string {
	return filepath.Join(p.root, "examples", p.name, "demo", "script.yaml")
}

// serverOnly reports whether etcd and kube-apiserver suffice. A failure may need a controller of the cluster, such as that of quotas.
func (p product) serverOnly(fail string) bool {
	return p.script.ServerOnly && fail == ""
}

// productNames lists the examples with a main package that are not separate modules.
func productNames(root string) []string {
	mains, err := filepath.Glob(filepath.Join(root, "examples", "*", "main.go"))
	if err != nil {
		return nil
	}

	var names []string
	for _, path := range mains {
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), "go.mod")); err == nil {
			continue // a separate module, which its own tests demonstrate
		}

		names = append(names, filepath.Base(filepath.Dir(path)))
	}

	slices.Sort(names)

	return names
}

// gatewayCRDs reads the CRDs of the Gateway API from the module that the
// examples require.
func gatewayCRDs(root string) ([]manifest, error) {
	dir, err := moduleFolder(filepath.Join(root, "examples"), "sigs.k8s.io/gateway-api")
	if err != nil {
		return nil, err
	}

	all, err := readManifests(filepath.Join(dir, "config", "crd", "standard"))

	return slices.DeleteFunc(all, func(m manifest) bool { return m.object.GetKind() != "CustomResourceDefinition" }), err
}
