package mmesh

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestSecure: what is wrong with a Secret is said with its name, and calls have it until it is right.
func TestSecure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		secret *corev1.Secret
		want   string
	}{
		"missing":        {nil, "unable to access TLS secret 's'"},
		"without a key":  {&corev1.Secret{Data: map[string][]byte{"tls.crt": []byte("x")}}, "TLS secret 's' missing tls.crt and/or tls.key"},
		"no certificate": {&corev1.Secret{Data: map[string][]byte{"tls.crt": []byte("x"), "tls.key": []byte("x")}}, "could not load client key pair"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var connections Connections
			call := func() error {
				return connections.Call(t.Context(), "n", Target{Address: "dns:///x:1", TLS: "s"}, func(context.Context, Client) error { return nil })
			}
			if err := call(); err == nil || !strings.Contains(err.Error(), "was not read yet") {
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
