// Command standin plays ModelMesh for the demo: it loads every model that it is asked for, in a second, and serves none. It listens at
// 127.0.0.1:18033, for a configuration with that modelMeshEndpoint.
//
// Never run it where the real one runs.
package main

import (
	"context"
	"fmt"
	"net"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/internal/standin"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/standin/memory"
)

const address = "127.0.0.1:18033"

func main() {
	mesh := &memory.Mesh{}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, "standin:", err)
		os.Exit(1)
	}
	go func() { fmt.Fprintln(os.Stderr, "standin:", mmesh.NewServer(mesh).Serve(listener)) }()
	standin.Main(func(*runtime.Scheme) error { return nil }, func(context.Context, client.Client) error {
		for id := range mesh.VModels() {
			mesh.Finish(id, mmesh.Model{State: mmesh.Loaded})
		}
		return nil
	})
}
