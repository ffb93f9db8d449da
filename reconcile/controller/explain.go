package controller

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
	"github.com/reconcilekit/reconcilekit/reconcile/explain"
)

// ExplainPath is the usual path of the [ExplainHandler] of an operator.
const ExplainPath = "/debug/explain"

// Explain reports the state of the owner and its reasons, from the last reconciliations and the cache. It sends no request.
// It returns an error before the set-up or when a read from the cache fails. For an owner that does not exist, Found of the
// result is false.
func (c *Controller) Explain(ctx context.Context, owner types.NamespacedName) (explain.Owner, error) {
	if c.explainer == nil {
		return explain.Owner{}, fmt.Errorf("controller %q: explain %s: call SetupWithManager first", c.name, owner)
	}
	return c.explainer.Explain(ctx, owner)
}

// ExplainHandler serves explanations of the controllers' owners. A GET with the parameters kind, namespace and name returns
// the tree of one owner. Without a name it lists the owners, at most 500, starting with those that are not ready; the
// parameters kind and state, such as NotReady, filter them. With show=dataflow it returns the watches, reads and writes of
// the controllers. The response is text; format=json returns JSON, and format=html a page with links that the browser
// reloads every five seconds.
//
// The operator has to serve the handler. Explanations contain names of objects and field managers and messages of the API
// server. Serve them behind authentication, such as with manager.AddMetricsServerExtraHandler, which applies the filter of
// the metrics server.
func ExplainHandler(controllers ...*Controller) http.Handler {
	return observe.Handler(func() []*observe.Explainer { return explainers(controllers) })
}

// explainers returns the explainers of the controllers that were set up.
func explainers(controllers []*Controller) []*observe.Explainer {
	var out []*observe.Explainer
	for _, c := range controllers {
		if e := c.explainer; e != nil {
			out = append(out, e)
		}
	}
	return out
}
