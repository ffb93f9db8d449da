package certificate

import (
	"context"
	"errors"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// server runs a webhook server and its keeper together, because a manager starts webhook servers before its caches, which
// may need conversions.
type server struct {
	webhook.Server
	keeper *Keeper
}

// Serve returns a webhook server that also runs the keeper. The options of s must include [Keeper.Configure].
func (k *Keeper) Serve(s webhook.Server) webhook.Server { return &server{Server: s, keeper: k} }

// Start runs the server and the keeper until ctx is done.
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
