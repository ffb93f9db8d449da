package mmesh

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/examples/internal/process"
)

// TestSecure checks that the error of an invalid Secret names the Secret, and that calls return it until the Secret is
// valid.
func TestSecure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		secret *corev1.Secret
		want   string
	}{
		"missing":       {nil, "unable to access TLS secret 's'"},
		"without a key": {&corev1.Secret{Data: map[string][]byte{"tls.crt": []byte("x")}}, "TLS secret 's' missing tls.crt and/or tls.key"},
		"no certificate": {
			&corev1.Secret{Data: map[string][]byte{"tls.crt": []byte("x"), "tls.key": []byte("x")}}, "could not load client key pair",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var connections Connections
			call := func() error {
				return connections.Call(t.Context(), "n", Target{Address: "dns:///x:1", TLS: "s"}, func(context.Context, Client) error { return nil })
			}
			if err := call(); err == nil || !strings.Contains(err.Error(), "not read yet") {
				t.Errorf("before: %v", err)
			}
			if err := connections.Secure("s", c.secret); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if err := call(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("a call: got %v, want %q", err, c.want)
			}
		})
	}
}

// TestNewCertificate checks that a connection is used as long as the certificate is unchanged, and that a new
// certificate opens a new connection.
func TestNewCertificate(t *testing.T) {
	t.Parallel()
	var connections Connections
	connection := func(secret *corev1.Secret) (used grpc.ClientConnInterface) {
		t.Helper()
		if err := connections.Secure("s", secret); err != nil {
			t.Fatal(err)
		}
		target := Target{Address: "dns:///x:1", TLS: "s", Authority: "x.n"}
		if err := connections.Call(t.Context(), "n", target, func(_ context.Context, c Client) error {
			used = c.Conn
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return used
	}
	before, after := certified(t), certified(t)
	first := connection(before)
	if connection(before) != first {
		t.Error("the connection changed without a change of the certificate")
	}
	if connection(after) == first {
		t.Error("the connection uses the previous certificate")
	}
}

// certified returns a Secret with a new certificate.
func certified(t *testing.T) *corev1.Secret {
	t.Helper()
	folder := t.TempDir()
	process.Certify(t, folder)
	secret := &corev1.Secret{Data: map[string][]byte{}}
	for _, key := range []string{corev1.TLSCertKey, corev1.TLSPrivateKeyKey} {
		content, err := os.ReadFile(filepath.Join(folder, key))
		if err != nil {
			t.Fatal(err)
		}
		secret.Data[key] = content
	}
	return secret
}
