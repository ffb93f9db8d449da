package mmesh

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestAbsent checks that only a name without addresses and a refused connection mean that no server listens.
func TestAbsent(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"a server listens":              {nil, false},
		"refused":                       {refused, true},
		"a host name without addresses": {&net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}, true},
		"the DNS does not respond":      {&net.DNSError{IsTimeout: true, IsTemporary: true}, false},
		"no route":                      {&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.EHOSTUNREACH)}, false},
		"too slow":                      {context.DeadlineExceeded, false},
		"only a message":                {errors.New("connection refused"), false},
	} {
		if got := isAbsent(tc.err); got != tc.want {
			t.Errorf("%s: absent is %t, want %t", name, got, tc.want)
		}
	}
}

// Response codes of DNS.
const (
	dnsNoData   = 0 // no answer records: the name has no addresses
	dnsFails    = 2
	dnsNotFound = 3
)

// TestNoInstances calls targets without a working server. It is not parallel because it replaces the resolver of the
// process.
func TestNoInstances(t *testing.T) {
	const headless = "dns:///modelmesh-serving.models:8033"
	before := net.DefaultResolver
	defer func() { net.DefaultResolver = before }()
	for name, tc := range map[string]struct {
		target string
		dns    byte
		want   bool
	}{
		"a listener that is closed":      {target: "dns:///" + environment.FreeAddress(t), want: true},
		"a host name without addresses":  {target: headless, dns: dnsNoData, want: true},
		"a name that does not exist":     {target: headless, dns: dnsNotFound, want: true},
		"the DNS fails":                  {target: headless, dns: dnsFails},
		"a server that ends connections": {target: "dns:///" + listen(t, net.Conn.Close)},
	} {
		t.Run(name, func(t *testing.T) {
			net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
				return serveDNS(tc.dns), nil
			}}
			var connections Connections
			defer func() { _ = connections.Close() }()
			err := connections.Call(t.Context(), "n", Target{Address: tc.target}, func(ctx context.Context, c Client) error {
				_, err := c.Get(ctx, Reference{ID: "m"})
				return err
			})
			if got := errors.Is(err, ErrNoInstances); got != tc.want || status.Code(err) != codes.Unavailable {
				t.Errorf("no instances is %t, want %t: %v", got, tc.want, err)
			}
		})
	}
}

// listen handles each connection with the function until the test ends, and returns the address.
func listen(t *testing.T, serve func(net.Conn) error) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = serve(conn)
		}
	}()
	return listener.Addr().String()
}

// serveDNS returns a TCP connection to a DNS server that answers each query with the code and no records.
func serveDNS(code byte) net.Conn {
	ours, theirs := net.Pipe()
	go func() {
		defer func() { _ = theirs.Close() }()
		for {
			var size [2]byte
			if _, err := io.ReadFull(theirs, size[:]); err != nil {
				return
			}
			query := make([]byte, binary.BigEndian.Uint16(size[:]))
			if _, err := io.ReadFull(theirs, query); err != nil {
				return
			}
			const header, typeAndClass = 12, 4
			end := header + bytes.IndexByte(query[header:], 0) + 1 + typeAndClass // end of the question
			answer := append([]byte{}, query[:end]...)
			answer[2], answer[3] = 0x81, 0x80|code // a response; recursion is available
			copy(answer[6:header], make([]byte, header-6))
			if _, err := theirs.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil { //nolint:gosec // a short one
				return
			}
		}
	}()
	return ours
}
