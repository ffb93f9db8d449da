package environment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// EnvKubeconfig is the environment variable with the kubeconfig of the cluster to test on. It is not KUBECONFIG, which may refer to a
// cluster that is not meant for tests.
const EnvKubeconfig = "RECONCILETEST_KUBECONFIG"

// ErrNoControlPlane reports that there is neither a kubeconfig nor the binaries of a control plane. Its text names the remedies.
var ErrNoControlPlane = errors.New("no control plane: set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver, " +
	"or " + EnvKubeconfig + " to a kubeconfig")

// failsWithout reports whether a missing control plane is a failure: on CI a skipped test would look like a passed one.
func failsWithout() bool {
	return os.Getenv("CI") == "true"
}

// findAssets returns the folder in KUBEBUILDER_ASSETS after checking its content, because envtest's own error is not helpful.
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
