package engine

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// terminatingRetry is the interval between attempts to create objects in a namespace that is being deleted.
const terminatingRetry = 30 * time.Second

// inTerminatingNamespace blocks the creation of a child if a create in its namespace was refused recently because the namespace is being
// deleted.
func inTerminatingNamespace(p *pass, c *child) bool {
	if c.live != nil || c.uid != "" {
		return false
	}
	wait := p.memory.Namespaces.Wait(c.id.Key.Namespace, p.now)
	if wait > 0 {
		namespaceTerminates(c, wait)
	}
	return wait > 0
}

// refusedByNamespace ends a child whose create was refused because its namespace is being deleted. This is no error: neither the plan nor
// the API server is wrong.
func refusedByNamespace(p *pass, c *child, err error) bool {
	if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return false
	}
	p.memory.Namespaces.Terminates(c.id.Key.Namespace, p.now.Add(terminatingRetry))
	namespaceTerminates(c, terminatingRetry)
	return true
}

func namespaceTerminates(c *child, wait time.Duration) {
	c.action = actionNone
	c.result.Outcome, c.result.Reason, c.result.Err = apply.OutcomeBlocked, apply.ReasonNamespaceTerminating, nil
	c.result.RequeueAfter, c.requeue = wait, wait
}

// noteNamespace remembers a namespace that this reconciliation has created.
func noteNamespace(p *pass, c *child) {
	if c.result.Outcome == apply.OutcomeCreated && c.id.GroupKind == (schema.GroupKind{Kind: "Namespace"}) {
		p.memory.Namespaces.Created(c.id.Key.Name)
	}
}
