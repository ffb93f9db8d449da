package mmesh

import (
	"context"
	"errors"

	"github.com/reconcilekit/reconcilekit/reconcile/external"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Target is where the ModelMesh of a namespace is, such as dns:///modelmesh-serving.models:8033. TLS is the Secret of its certificate,
// empty for none.
type Target struct{ Address, TLS string }

// Connections are those to the ModelMesh of each namespace. The zero value has none; it is safe for concurrent use, and closed as a
// runnable of a manager.
type Connections struct {
	external.Sessions[*grpc.ClientConn]
}

var errTLS = errors.New("tls.secretName is set: ModelMesh over TLS is not supported yet; leave it out")

// Call calls the ModelMesh of a namespace. A connection is opened with its first call, which finds out whether anybody is there.
func (c *Connections) Call(ctx context.Context, namespace string, target Target, call func(context.Context, Client) error) error {
	if target.TLS != "" {
		return errTLS
	}
	conn, done, err := c.Use(namespace, target.Address, func() (*grpc.ClientConn, error) {
		return grpc.NewClient(target.Address, grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultServiceConfig(`{"loadBalancingConfig":[{"round_robin":{}}]}`))
	})
	if err != nil {
		return err
	}
	defer done()
	return call(ctx, Client{Conn: conn})
}
