package mmesh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/external"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// Target is the address of the ModelMesh of a namespace, such as dns:///modelmesh-serving.models:8033. TLS is the Secret with its
// certificate, empty for none. Authority is the name that the certificate of the server must have.
type Target struct{ Address, TLS, Authority string }

// Connections holds one connection per namespace. The zero value has none. It is safe for concurrent use, and closed as a runnable
// of a manager.
type Connections struct {
	external.Sessions[*grpc.ClientConn]

	identity identity
}

// ErrNoInstances means that no pod of ModelMesh runs: the name of the target has no addresses, or the target refuses connections.
var ErrNoInstances = errors.New("no pod of ModelMesh runs")

// Call calls the ModelMesh of a namespace. The first call opens the connection. If no pod of ModelMesh runs, Call returns an error
// that wraps [ErrNoInstances] and closes the connection: the next call resolves the name again, without a backoff.
func (c *Connections) Call(ctx context.Context, namespace string, target Target, call func(context.Context, Client) error) error {
	options := []grpc.DialOption{grpc.WithDefaultServiceConfig(`{"loadBalancingConfig":[{"round_robin":{}}]}`)}
	fingerprint := target.Address
	if target.TLS == "" {
		options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))
	} else {
		config, of, err := c.identity.of(target.TLS)
		if err != nil {
			return err
		}
		options = append(options, grpc.WithTransportCredentials(credentials.NewTLS(config)), grpc.WithAuthority(target.Authority))
		fingerprint += " " + target.Authority + " " + of
	}
	conn, done, err := c.Use(namespace, fingerprint, func() (*grpc.ClientConn, error) { return grpc.NewClient(target.Address, options...) })
	if err != nil {
		return err
	}
	defer done()
	err = call(ctx, Client{Conn: conn})
	if status.Code(err) == codes.Unavailable && isAbsent(dial(ctx, target.Address)) {
		_ = c.Drop(namespace) // closing a connection without a server loses nothing
		return fmt.Errorf("%w at %s: %w", ErrNoInstances, target.Address, err)
	}
	return err
}

// dialTimeout limits the attempt to connect that distinguishes a missing server from a failing one.
const dialTimeout = 2 * time.Second

// dial connects to the target once and returns the error, because gRPC returns the same status for all errors.
func dial(ctx context.Context, address string) error {
	if _, rest, found := strings.Cut(address, "://"); found {
		_, address, _ = strings.Cut(rest, "/")
	}
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", address, err)
	}
	return conn.Close()
}

// isAbsent reports whether the error of a connection means that no server listens.
func isAbsent(err error) bool {
	var lookup *net.DNSError
	return errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &lookup) && lookup.IsNotFound
}
