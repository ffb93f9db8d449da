package mmesh

import (
	"context"

	"github.com/reconcilekit/reconcilekit/reconcile/external"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// Target is where the ModelMesh of a namespace is, such as dns:///modelmesh-serving.models:8033. TLS is the Secret of its certificate,
// empty for none, and Authority the name that the certificate of the server must have.
type Target struct{ Address, TLS, Authority string }

// Connections are those to the ModelMesh of each namespace. The zero value has none; it is safe for concurrent use, and closed as a
// runnable of a manager.
type Connections struct {
	external.Sessions[*grpc.ClientConn]

	identity identity
}

// Call calls the ModelMesh of a namespace. A connection is opened with its first call, which finds out whether anybody is there.
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
	return call(ctx, Client{Conn: conn})
}
