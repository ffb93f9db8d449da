package process

import (
	"net"
	"testing"
)

// FreeAddress returns an address of this machine with a free port, such as 127.0.0.1:34567. It does not reserve the port.
func FreeAddress(t testing.TB) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}
