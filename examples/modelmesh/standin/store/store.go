// Package store runs an etcd server for tests.
package store

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// Store is an etcd server that a test can stop and start again without loss of data.
type Store struct {
	t      *testing.T
	client *clientv3.Client

	// URL is the address for clients.
	URL string

	peer, folder string
	process      *exec.Cmd
}

// New starts etcd from the folder in KUBEBUILDER_ASSETS, until the test ends. Without that variable New skips the test, or fails it
// on CI.
func New(t *testing.T) *Store {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("KUBEBUILDER_ASSETS is not set")
		}
		t.Skip("set KUBEBUILDER_ASSETS to a folder with etcd")
	}
	s := &Store{t: t, URL: "http://" + environment.FreeAddress(t), peer: "http://" + environment.FreeAddress(t), folder: t.TempDir()}
	s.Start()
	t.Cleanup(s.Stop)
	var err error
	if s.client, err = clientv3.New(clientv3.Config{Endpoints: []string{s.URL}, Logger: zap.NewNop()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.client.Close() })
	return s
}

// Start starts the server with its previous data.
func (s *Store) Start() {
	s.t.Helper()
	s.process = exec.Command(filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "etcd"), //nolint:noctx // stopped by the test
		"--data-dir", s.folder, "--listen-client-urls", s.URL, "--advertise-client-urls", s.URL, "--unsafe-no-fsync",
		"--listen-peer-urls", s.peer, "--initial-advertise-peer-urls", s.peer, "--initial-cluster", "default="+s.peer, "--log-level", "error")
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
}

// Stop kills the server.
func (s *Store) Stop() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

// Put sets a key.
func (s *Store) Put(key, value string) {
	s.t.Helper()
	ctx, stop := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer stop()
	if _, err := s.client.Put(ctx, key, value); err != nil {
		s.t.Fatal(err)
	}
}

// Delete deletes a key.
func (s *Store) Delete(key string) {
	s.t.Helper()
	if _, err := s.client.Delete(s.t.Context(), key); err != nil {
		s.t.Fatal(err)
	}
}
