package cluster

import (
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// users are the users of the control plane and their groups: each component has the permissions of the API server's bootstrap policy.
// kwok acts as a node and as every kubelet, so it is an administrator.
var users = map[string][]string{ //nolint:gochecknoglobals // a constant table
	"admin":                          {"system:masters"},
	"kwok":                           {"system:masters"},
	"system:kube-controller-manager": nil,
	"system:kube-scheduler":          nil,
}

// kubeconfigOf maps users to their kubeconfig in the cluster's folder.
var kubeconfigOf = map[string]string{ //nolint:gochecknoglobals // a constant table
	"admin":                          "kubeconfig",
	"kwok":                           "kwok.kubeconfig",
	"system:kube-controller-manager": "controller-manager.kubeconfig",
	"system:kube-scheduler":          "scheduler.kubeconfig",
}

// ports are the ports of the processes on 127.0.0.1.
type ports struct {
	EtcdClient, EtcdPeer, APIServer, ControllerManager, Scheduler int
}

// freePorts returns free ports. It keeps all of them open until it has all, so that they differ.
func freePorts() (ports, error) {
	var found [5]int

	for i := range found {
		listener, err := net.Listen("tcp4", "127.0.0.1:0") //nolint:noctx // closed at once
		if err != nil {
			return ports{}, fmt.Errorf("find a free port: %w", err)
		}
		defer listener.Close()

		address, _ := listener.Addr().(*net.TCPAddr)
		found[i] = address.Port
	}

	return ports{found[0], found[1], found[2], found[3], found[4]}, nil
}

// writeCredentials writes every certificate, key and kubeconfig to dir.
func writeCredentials(dir string, apiServerPort int) error {
	ca, err := newAuthority()
	if err != nil {
		return err
	}

	if err := os.WriteFile(filepath.Join(dir, "ca.crt"), ca.pem, 0o600); err != nil {
		return err
	}

	if err := writeServiceAccountKeys(dir); err != nil {
		return err
	}

	for _, name := range []string{"etcd", "apiserver"} {
		issued, err := ca.issue(name)
		if err != nil {
			return err
		}

		if err := issued.write(dir, name); err != nil {
			return err
		}
	}

	server := "https://127.0.0.1:" + strconv.Itoa(apiServerPort)

	for user, groups := range users {
		issued, err := ca.issue(user, groups...)
		if err != nil {
			return err
		}

		if user == "admin" {
			if err := issued.write(dir, "admin"); err != nil {
				return err
			}
		}

		content := kubeconfig(server, ca.pem, issued)
		if err := os.WriteFile(filepath.Join(dir, kubeconfigOf[user]), content, 0o600); err != nil {
			return err
		}
	}

	return nil
}

// kubeconfig renders a self-contained kubeconfig for one user.
func kubeconfig(server string, ca []byte, user pair) []byte {
	text := base64.StdEncoding.EncodeToString

	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: controlplane
contexts:
- name: controlplane
  context: {cluster: controlplane, user: controlplane}
clusters:
- name: controlplane
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: controlplane
  user:
    client-certificate-data: %s
    client-key-data: %s
`, server, text(ca), text(user.certificate), text(user.key))
}
