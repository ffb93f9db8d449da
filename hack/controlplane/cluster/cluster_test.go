package cluster

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/hack/controlplane/assets"
)

func TestCredentials(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	if err := writeCredentials(dir, 6443); err != nil {
		t.Fatal(err)
	}

	read := func(name string) []byte {
		t.Helper()

		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}

		return data
	}

	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(read("ca.crt")) {
		t.Fatal("ca.crt holds no certificate")
	}

	for file, host := range map[string]string{"apiserver.crt": "kubernetes.default.svc", "etcd.crt": "127.0.0.1", "admin.crt": ""} {
		block, _ := pem.Decode(read(file))

		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}

		usages := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
		if _, err := certificate.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, KeyUsages: usages}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}

	for _, file := range kubeconfigOf {
		if !strings.Contains(string(read(file)), "server: https://127.0.0.1:6443\n") {
			t.Errorf("%s does not name the server", file)
		}

		if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s is readable by other users: %v %v", file, info.Mode(), err)
		}
	}
}

func TestFolderOf(t *testing.T) {
	t.Parallel()

	for _, name := range []string{"default", "demo-123", "a"} {
		if dir, err := folderOf(name); err != nil || filepath.Base(dir) != name {
			t.Errorf("folderOf(%q) = %q, %v", name, dir, err)
		}
	}

	for _, name := range []string{"", "..", "a/b", "-a", "A", strings.Repeat("a", 41)} {
		if _, err := folderOf(name); err == nil || !strings.Contains(err.Error(), "want at most 40") {
			t.Errorf("folderOf(%q): want an error with the accepted form, got %v", name, err)
		}
	}
}

// TestStopKillsOnlyProcessesOfTheCluster checks that Stop does not kill a process that reuses a stored process ID.
func TestStopKillsOnlyProcessesOfTheCluster(t *testing.T) {
	t.Parallel()

	stranger := exec.CommandContext(t.Context(), "sleep", "600")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}

	dir := filepath.Join(t.TempDir(), "old")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}

	s := state{Processes: []process{{Name: "etcd", PID: stranger.Process.Pid}}}
	if err := s.save(dir); err != nil {
		t.Fatal(err)
	}

	if err := stopIn(t.Context(), dir); err != nil {
		t.Fatal(err)
	}

	if commandLine(t.Context(), stranger.Process.Pid) == "" {
		t.Error("Stop killed a process that does not belong to the cluster")
	}

	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder still exists: %v", err)
	}
}

// TestSpawnedProcessIsAlive checks that a process counts as alive right after its start, when its command line is empty
// until the kernel has loaded the binary.
func TestSpawnedProcessIsAlive(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()

	for range 200 {
		p, err := spawn(dir, "/bin/sh", "sh", []string{"-c", "exec sleep 600", dir})
		if err != nil {
			t.Fatal(err)
		}

		if !p.alive(t.Context(), dir) {
			t.Error("a process that was just spawned counts as ended")
		}

		if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}

		<-p.ended

		if p.alive(t.Context(), dir) {
			t.Error("a killed process counts as alive")
		}
	}
}

// TestStartReportsTheLogOfAComponent replaces the components with a script that fails at once, and checks that the error
// contains its log.
func TestStartReportsTheLogOfAComponent(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())

	folder := t.TempDir()
	for _, name := range assets.Names() {
		script := "#!/bin/sh\necho " + name + " has no disk; exit 1\n"
		if err := os.WriteFile(filepath.Join(folder, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}

	_, err := Start(t.Context(), Options{Name: "broken", Assets: folder, Progress: &bytes.Buffer{}})
	if err == nil || !strings.Contains(err.Error(), "has no disk") {
		t.Errorf("want an error with the component's log, got %v", err)
	}

	dir, err := folderOf("broken")
	if err != nil {
		t.Fatal(err)
	}

	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of the failed cluster still exists: %v", err)
	}
}

// TestStartTriesOtherPorts replaces etcd with a script that fails because its port is in use, and counts the starts.
func TestStartTriesOtherPorts(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())

	folder, count := t.TempDir(), filepath.Join(t.TempDir(), "count")
	for _, name := range assets.Names() {
		script := "#!/bin/sh\ntrap 'kill $!' TERM\nsleep 20 &\nwait\n"
		if name == "etcd" {
			script = "#!/bin/sh\necho >>" + count + "; echo listen tcp: bind: address already in use; exit 1\n"
		}

		if err := os.WriteFile(filepath.Join(folder, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}

	_, err := Start(t.Context(), Options{Name: "taken", Assets: folder, Progress: &bytes.Buffer{}})
	if err == nil || !portTaken(err) {
		t.Errorf("want the last failure, got %v", err)
	}

	if starts, err := os.ReadFile(count); err != nil || len(starts) != startAttempts {
		t.Errorf("etcd was started %d times (%v), want %d", len(starts), err, startAttempts)
	}
}

// TestCluster starts a complete cluster, runs a Deployment on it, and stops it.
func TestCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("needs every component")
	}
	folder := os.Getenv(assets.EnvAssets)
	for _, name := range assets.Names() {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			skipOrFail(t, fmt.Sprintf("no %s in %s=%q: run make assets", name, assets.EnvAssets, folder))
		}
	}

	t.Setenv("XDG_CACHE_HOME", t.TempDir())

	progress := &bytes.Buffer{}
	options := Options{
		Name: "test", Assets: folder, Progress: progress,
		Kubeconfig:       filepath.Join(t.TempDir(), "deep", "kubeconfig"),
		AdmissionPlugins: []string{"OwnerReferencesPermissionEnforcement"},
	}

	kubeconfig, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}

	dir := filepath.Dir(kubeconfig)
	t.Cleanup(func() {
		if err := stopIn(context.WithoutCancel(t.Context()), dir); err != nil {
			t.Error(err)
		}
	})

	started, err := load(dir)
	if err != nil {
		t.Fatal(err)
	}

	if again, err := Start(t.Context(), options); err != nil || again != kubeconfig {
		t.Errorf("the second start gives %q, %v, want the running cluster", again, err)
	}

	for _, file := range []string{kubeconfig, options.Kubeconfig} {
		if info, err := os.Stat(file); err != nil || info.Size() == 0 {
			t.Errorf("kubeconfig %s: %v", file, err)
		}
	}

	deployUntilAvailable(t, dir)

	if err := Stop(t.Context(), "test", progress); err != nil {
		t.Fatal(err)
	}

	for _, p := range started.Processes {
		if p.alive(t.Context(), dir) {
			t.Errorf("%s (process %d) still runs", p.Name, p.PID)
		}
	}

	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder still exists: %v", err)
	}
}

// TestServerOnly starts only etcd and kube-apiserver.
func TestServerOnly(t *testing.T) {
	folder := os.Getenv(assets.EnvAssets)
	for _, name := range assets.ServerNames() {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			skipOrFail(t, fmt.Sprintf("no %s in %s=%q: run make assets", name, assets.EnvAssets, folder))
		}
	}

	t.Setenv("XDG_CACHE_HOME", t.TempDir())

	options := Options{Name: "server", Assets: folder, ServerOnly: true, Progress: &bytes.Buffer{}}

	kubeconfig, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}

	dir := filepath.Dir(kubeconfig)
	t.Cleanup(func() {
		if err := stopIn(context.WithoutCancel(t.Context()), dir); err != nil {
			t.Error(err)
		}
	})

	if !running(t.Context(), dir, assets.ServerNames()) || running(t.Context(), dir, assets.Names()) {
		t.Error("want only etcd and kube-apiserver to run")
	}

	probe := probeOf(t, dir)
	if _, err := send(t.Context(), probe.client, http.MethodGet, probe.apiServer+"/api/v1/namespaces/default", nil); err != nil {
		t.Error(err)
	}
}

// deployUntilAvailable needs all components: the controller manager creates the pods, the scheduler assigns them to
// nodes, and kwok makes them ready.
func deployUntilAvailable(t *testing.T, dir string) {
	t.Helper()

	probe := probeOf(t, dir)
	deployments := probe.apiServer + "/apis/apps/v1/namespaces/default/deployments"
	body := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":2,
		"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
		"spec":{"containers":[{"name":"web","image":"web:1"}]}}}}`

	if _, err := send(t.Context(), probe.client, http.MethodPost, deployments, []byte(body)); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()

	var got struct {
		Status struct{ AvailableReplicas int }
	}

	for ctx.Err() == nil {
		data, err := send(ctx, probe.client, http.MethodGet, deployments+"/web", nil)
		if err != nil {
			t.Fatal(err)
		}

		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}

		if got.Status.AvailableReplicas == 2 {
			return
		}

		time.Sleep(100 * time.Millisecond)
	}

	t.Errorf("2 replicas are not available: %+v\n%s", got, logTail(dir, "kwok"))
}

// probeOf connects to a running cluster with the kubeconfig of its folder.
func probeOf(t *testing.T, dir string) *probe {
	t.Helper()

	data, err := os.ReadFile(filepath.Join(dir, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}

	var free ports

	_, rest, found := strings.Cut(string(data), "server: https://127.0.0.1:")
	if _, err := fmt.Sscanf(rest, "%d", &free.APIServer); !found || err != nil {
		t.Fatalf("no server in the kubeconfig: %v", err)
	}

	p, err := newProbe(dir, free)
	if err != nil {
		t.Fatal(err)
	}

	return p
}

// skipOrFail skips a test whose binaries are missing; on CI it fails the test.
func skipOrFail(t *testing.T, reason string) {
	t.Helper()

	if os.Getenv("CI") == "true" {
		t.Fatal(reason)
	}

	t.Skip(reason)
}
