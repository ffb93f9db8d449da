package environment

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

const (
	// The kernel uses ports from 32768 on for outgoing connections. Such a connection could take a port before its server listens, or
	// while the server restarts.
	lowestPort  = 20000
	portsToTest = 32768 - lowestPort
	attempts    = 100
)

// FreeAddress returns an address of this machine with a free port, such as 127.0.0.1:23456, for a server that a test starts, also again
// after it was stopped. It does not reserve the port.
func FreeAddress(t testing.TB) string {
	t.Helper()

	var err error

	for range attempts {
		address := fmt.Sprintf("127.0.0.1:%d", lowestPort+rand.IntN(portsToTest)) //nolint:gosec // not a secret

		var listener net.Listener
		if listener, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", address); err == nil {
			err = listener.Close()
		}

		if err == nil {
			return address
		}
	}

	t.Fatalf("find a free port from %d to %d: %v", lowestPort, lowestPort+portsToTest-1, err)

	return ""
}
