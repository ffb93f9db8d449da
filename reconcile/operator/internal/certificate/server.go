package certificate

import (
	"context"
	"errors"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// server is a webhook server beside which its certificate is kept: a manager starts it before its caches, which may need conversions.
type server struct {
	webhook.Server
	keeper *Keeper
}

// Serve returns the webhook server as one that keeps its certificate. The server's options have to include [Keeper.Configure].
func (k *Keeper) Serve(s webhook.Server) webhook.Server { return &server{Server: s, keeper: k} }

// Start runs both until ctx ends.
func (s *server) Start(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var keeping sync.WaitGroup
	var kept error
	keeping.Go(func() { kept = s.keeper.Start(ctx) })
	served := s.Server.Start(ctx)
	stop()
	keeping.Wait()
	return errors.Join(served, kept)
}
