// Command standin plays the parts of a cluster that the demo does not have: KServe,
// the Gateway, and the controllers of models, templates and caches, which this
// example does not contain. It does no work: it only marks things as ready.
//
// Never run it where the real ones run.
package main

import (
	"github.com/reconcilekit/reconcilekit/examples/aim/aimservice"
	"github.com/reconcilekit/reconcilekit/examples/aim/standin/ready"
	"github.com/reconcilekit/reconcilekit/examples/internal/standin"
)

func main() { standin.Main(aimservice.AddToScheme, ready.Everything) }
