// Command standin simulates ModelMesh for the demo: it loads every requested model in three seconds, and serves none. A model whose
// path contains "large" takes ten seconds, and one whose path contains "broken" fails to load. It listens on 127.0.0.1:18033, for a
// configuration with that modelMeshEndpoint, except while the key mesh of the ConfigMap default/standin is "away". It writes its
// current state into the key now.
//
// Never run it in a cluster with the real ModelMesh.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/internal/standin"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/standin/memory"
)

const (
	address = "127.0.0.1:18033"
	loading = 3 * time.Second
	large   = 10 * time.Second
)

func main() {
	p := &play{mesh: &memory.Mesh{}, loads: map[string]load{}}
	standin.Main(corev1.AddToScheme, p.turn)
}

// play is the ModelMesh of the demo.
type play struct {
	mesh   *memory.Mesh
	server *grpc.Server    // nil while the mesh is away
	loads  map[string]load // by vmodel
}

// load is the loading of the target model of a vmodel.
type load struct {
	target, path string
	began        time.Time
}

// turn runs each second.
func (p *play) turn(ctx context.Context, c client.Client) error {
	var orders corev1.ConfigMap
	if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "standin"}, &orders); client.IgnoreNotFound(err) != nil {
		return err
	}
	away := orders.Data["mesh"] == "away"
	if err := p.serve(!away); err != nil {
		return err
	}
	if away && orders.Data["now"] == "" {
		before := client.MergeFrom(orders.DeepCopy())
		orders.Data["now"] = "away"
		if err := c.Patch(ctx, &orders, before); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	for _, set := range p.mesh.Calls().Sets {
		if known := p.loads[set.ID]; known.target != set.Target {
			p.loads[set.ID] = load{target: set.Target, path: set.Path, began: time.Now()}
		}
	}
	for id := range p.mesh.VModels() {
		l := p.loads[id]
		takes := loading
		if strings.Contains(l.path, "large") {
			takes = large
		}
		if time.Since(l.began) < takes {
			continue
		}
		end := mmesh.Model{State: mmesh.Loaded}
		if strings.Contains(l.path, "broken") {
			end = mmesh.Model{State: mmesh.LoadingFailed, Errors: []string{"the file " + l.path + " is no model"}}
		}
		p.mesh.Finish(id, end)
	}
	return nil
}

// serve starts or stops the server. The models stay, as they would in etcd.
func (p *play) serve(wanted bool) error {
	switch {
	case wanted && p.server == nil:
		listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
		if err != nil {
			return err
		}
		p.server = mmesh.NewServer(p.mesh)
		go func(s *grpc.Server) {
			if err := s.Serve(listener); err != nil {
				fmt.Fprintln(os.Stderr, "standin:", err)
			}
		}(p.server)
	case !wanted && p.server != nil:
		p.server.Stop()
		p.server = nil
	}
	return nil
}
