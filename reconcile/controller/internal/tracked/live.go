package tracked

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// limited is a reader from the API server whose reads count against the request limit of a pass.
type limited struct{ client.Reader }

// Limited returns a reader whose reads count against the request limit of a pass; live reads from the API server.
func Limited(live client.Reader) client.Reader { return limited{live} }

// Get reads one object.
func (l limited) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	if err := pipeline.CountRead(ctx); err != nil {
		return err
	}
	return l.Reader.Get(ctx, key, into, opts...)
}

// List reads a list.
func (l limited) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	if err := pipeline.CountRead(ctx); err != nil {
		return err
	}
	return l.Reader.List(ctx, into, opts...)
}
