// Command standin simulates KServe, the Gateway, and the controllers of models, templates and caches for the demo. It only marks
// objects as ready.
//
// Never run it in a cluster with the real controllers.
package main

import (
	"github.com/reconcilekit/reconcilekit/examples/aim/aimservice"
	"github.com/reconcilekit/reconcilekit/examples/aim/standin/ready"
	"github.com/reconcilekit/reconcilekit/examples/internal/standin"
)

func main() { standin.Main(aimservice.AddToScheme, ready.Everything) }
