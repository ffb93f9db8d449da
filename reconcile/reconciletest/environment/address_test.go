package environment_test

import (
	"net"
	"strconv"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
)

// TestFreeAddress checks that a server can listen on the address twice, and that the port is not used for outgoing connections.
func TestFreeAddress(t *testing.T) {
	t.Parallel()

	address := environment.FreeAddress(t)
	for range 2 {
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}

		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
	}

	_, text, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}

	if port, err := strconv.Atoi(text); err != nil || port < 1024 || port >= 32768 {
		t.Errorf("the port %s is in the range of outgoing connections", text)
	}
}
