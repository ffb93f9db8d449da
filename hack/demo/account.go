package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
)

// account is the operator's service account in failures that remove permissions.
const account = "system:serviceaccount:default:reconcilekit-demo"

// takeRights grants the account the permissions that the operator declares, and returns them with a kubeconfig.
func takeRights(ctx context.Context, binary string, c *cluster, plane *plane) (rights []manifest, kubeconfig string, err error) {
	derived, err := exec.CommandContext(ctx, binary, "describe", "-output=rights", "-service-account=default/reconcilekit-demo").Output()
	if err != nil {
		return nil, "", fmt.Errorf("derive the operator's permissions: %w", withStderr(err))
	}

	file := filepath.Join(plane.logs, "rights.yaml")
	if err := os.WriteFile(file, derived, 0o600); err != nil {
		return nil, "", err
	}

	if rights, err = readFile(file); err != nil {
		return nil, "", err
	}

	for _, m := range rights {
		if err := c.apply(ctx, m.object); err != nil {
			return nil, "", err
		}
	}

	config, err := clientcmd.LoadFromFile(plane.kubeconfig)
	if err != nil {
		return nil, "", fmt.Errorf("load kubeconfig %s: %w", plane.kubeconfig, err)
	}

	for _, user := range config.AuthInfos {
		user.Impersonate = account
	}

	kubeconfig = filepath.Join(plane.logs, "kubeconfig")

	return rights, kubeconfig, clientcmd.WriteToFile(*config, kubeconfig)
}
