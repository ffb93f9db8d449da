package controller

import (
	"net/http"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/observe"
)

// ServeWebhooks registers the handlers at their paths with the manager's webhook server. /readyz fails until the server
// serves, because a Pod that receives requests earlier would fail them. The manager must not have been started.
func ServeWebhooks(mgr manager.Manager, handlers map[string]http.Handler) error {
	server := mgr.GetWebhookServer()
	for path, handler := range handlers {
		server.Register(path, handler)
	}
	return observe.WebhooksReady(mgr)
}
