package cluster

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/reconcilekit/reconcilekit/hack/controlplane/assets"
)

// serviceRange contains the addresses of Services; the first is that of the API server and is in its certificate.
const serviceRange = "10.96.0.0/16"

func etcdArgs(dir string, p ports) []string {
	client := "https://127.0.0.1:" + strconv.Itoa(p.EtcdClient)
	peer := "http://127.0.0.1:" + strconv.Itoa(p.EtcdPeer)

	return []string{
		"--data-dir=" + filepath.Join(dir, "etcd"),
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=default=" + peer,
		"--client-cert-auth",
		"--trusted-ca-file=" + filepath.Join(dir, "ca.crt"),
		"--cert-file=" + filepath.Join(dir, "etcd.crt"),
		"--key-file=" + filepath.Join(dir, "etcd.key"),
		// The data need not survive a power failure.
		"--unsafe-no-fsync",
	}
}

func apiServerArgs(dir string, p ports, admissionPlugins []string) []string {
	args := []string{
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(p.APIServer),
		// These two are required on a machine without a network address.
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		"--etcd-servers=https://127.0.0.1:" + strconv.Itoa(p.EtcdClient),
		"--etcd-cafile=" + filepath.Join(dir, "ca.crt"),
		"--etcd-certfile=" + filepath.Join(dir, "etcd.crt"),
		"--etcd-keyfile=" + filepath.Join(dir, "etcd.key"),
		"--client-ca-file=" + filepath.Join(dir, "ca.crt"),
		"--tls-cert-file=" + filepath.Join(dir, "apiserver.crt"),
		"--tls-private-key-file=" + filepath.Join(dir, "apiserver.key"),
		"--cert-dir=" + dir,
		"--authorization-mode=Node,RBAC",
		"--service-cluster-ip-range=" + serviceRange,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + filepath.Join(dir, "sa.pub"),
		"--service-account-signing-key-file=" + filepath.Join(dir, "sa.key"),
		"--allow-privileged",
	}
	if len(admissionPlugins) > 0 {
		args = append(args, "--enable-admission-plugins="+strings.Join(admissionPlugins, ","))
	}

	return args
}

func controllerManagerArgs(dir string, p ports) []string {
	kubeconfig := filepath.Join(dir, kubeconfigOf["system:kube-controller-manager"])

	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(p.ControllerManager),
		"--cert-dir=" + dir,
		"--leader-elect=false",
		"--use-service-account-credentials",
		"--service-account-private-key-file=" + filepath.Join(dir, "sa.key"),
		"--root-ca-file=" + filepath.Join(dir, "ca.crt"),
	}
}

func schedulerArgs(dir string, p ports) []string {
	kubeconfig := filepath.Join(dir, kubeconfigOf["system:kube-scheduler"])

	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(p.Scheduler),
		"--cert-dir=" + dir,
		"--leader-elect=false",
	}
}

func kwokArgs(dir, assetsFolder string) []string {
	return []string{
		"--kubeconfig=" + filepath.Join(dir, kubeconfigOf["kwok"]),
		"--config=" + filepath.Join(assetsFolder, assets.Stages),
		"--manage-all-nodes",
		"--cidr=10.244.0.0/24",
		"--node-ip=127.0.0.1",
		"--node-name=" + nodeName,
		"--node-port=0",
		"--node-lease-duration-seconds=40",
	}
}
