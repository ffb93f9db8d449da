package environment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// EnvKubeconfig names the environment variable with a kubeconfig whose cluster
// the tests run on. It is not KUBECONFIG, which points many people at a
// cluster that they do not want tests on.
const EnvKubeconfig = "RECONCILETEST_KUBECONFIG"

// ErrNoControlPlane reports that neither a kubeconfig nor the binaries of a
// control plane are there. Its text names what would help.
var ErrNoControlPlane = errors.New("no control plane: set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver, " +
	"or " + EnvKubeconfig + " to a kubeconfig")

// failsWithout reports whether a missing control plane is a failure: on CI a
// skipped test would look like one that passed.
func failsWithout() bool {
	return os.Getenv("CI") == "true"
}

// findAssets returns the folder named by KUBEBUILDER_ASSETS after a look at
// what is in it: envtest's own error names a file that nobody knows.
func findAssets() (string, error) {
	folder := os.Getenv("KUBEBUILDER_ASSETS")
	if folder == "" {
		return "", ErrNoControlPlane
	}

	for _, name := range []string{"etcd", "kube-apiserver"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			return "", fmt.Errorf("find %s in KUBEBUILDER_ASSETS=%s: %w", name, folder, err)
		}
	}

	return folder, nil
}
