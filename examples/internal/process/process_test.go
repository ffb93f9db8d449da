package process_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"

	"github.com/reconcilekit/reconcilekit/examples/internal/process"
)

// TestCertify checks that a client that trusts the certificate also trusts a server that uses it, at its address and its
// names.
func TestCertify(t *testing.T) {
	t.Parallel()
	folder, address := t.TempDir(), environment.FreeAddress(t)
	process.Certify(t, folder, "models.example")
	certificate, key := filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", address, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.NotFoundHandler()}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	text, err := os.ReadFile(certificate)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(text)
	for name, wants := range map[string]bool{"": true, "models.example": true, "other.example": false} {
		c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
			RootCAs: trusted, ServerName: name, MinVersion: tls.VersionTLS12,
		}}}
		answer, err := c.Get("https://" + address)
		if err == nil {
			_ = answer.Body.Close()
		}
		if (err == nil) != wants {
			t.Errorf("name %q: error %v, want success: %t", name, err, wants)
		}
	}
}

// TestTail checks that the tail is the end of a long log and all of a short one.
func TestTail(t *testing.T) {
	t.Parallel()
	var log process.Log
	_, _ = log.Write([]byte("short"))
	if got := log.Tail(); got != "short" {
		t.Errorf("tail %q, want all", got)
	}
	_, _ = log.Write([]byte(strings.Repeat(".", 9000) + "end"))
	if got := log.Tail(); len(got) != 8000 || !strings.HasSuffix(got, ".end") {
		t.Errorf("tail of %d bytes, want the last 8000", len(got))
	}
}

// TestErrors checks that Errors returns the log lines of level error after the given position.
func TestErrors(t *testing.T) {
	t.Parallel()
	var log process.Log
	_, _ = log.Write([]byte(`{"level":"error","msg":"before"}` + "\n"))
	from := len(log.String())
	_, _ = log.Write([]byte("no JSON\n" + `{"level":"info","msg":"works"}` + "\n" +
		`{"level":"error","msg":"Reconciler error","controller":"c","namespace":"n","name":"o","error":"e"}` + "\n"))
	want := []process.Entry{{Level: "error", Message: "Reconciler error", Controller: "c", Namespace: "n", Name: "o", Error: "e"}}
	if diff := cmp.Diff(want, log.Errors(from)); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}
