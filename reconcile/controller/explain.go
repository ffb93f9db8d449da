package controller

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/explain"
)

// ExplainPath is the path at which an operator usually serves [ExplainHandler].
const ExplainPath = "/debug/explain"

// Explain reports why the owner is as it is: what is known of its last passes, with what the cache has of it. It sends no request. The
// error is that of a controller that was not set up, or of the cache; an owner that does not exist is not Found.
func (c *Controller) Explain(ctx context.Context, owner types.NamespacedName) (explain.Owner, error) {
	if c.explainer == nil {
		return explain.Owner{}, fmt.Errorf("controller %q: explain %s: call SetupWithManager first", c.name, owner)
	}
	return c.explainer.Explain(ctx, owner)
}

// ExplainHandler serves explanations of the controllers' owners. GET with the parameters kind, namespace and name answers with the tree of
// one owner. Without a name it lists the owners, at most 500, those that are not ready first; kind and state, such as NotReady, choose
// among them. With show=dataflow it shows what the controllers watch, read and write. The answer is text; format=json asks for the data,
// format=html for a page with links, which keeps itself as it is now. A request with the ETag of an answer in If-None-Match and with
// "Prefer: wait=5" waits that many seconds, at most 5, until there is another answer.
//
// Nothing serves it unless the operator does so. Explanations name objects, field managers and what the API server said: serve them
// behind authentication, such as that of the metrics server, with manager.AddMetricsServerExtraHandler, which filters extra handlers like
// the metrics where metrics are filtered.
func ExplainHandler(controllers ...*Controller) http.Handler {
	return observe.Handler(func() []*observe.Explainer { return explainers(controllers) })
}

// explainers answer for the controllers that were set up.
func explainers(controllers []*Controller) []*observe.Explainer {
	var out []*observe.Explainer
	for _, c := range controllers {
		if e := c.explainer; e != nil {
			out = append(out, e)
		}
	}
	return out
}
