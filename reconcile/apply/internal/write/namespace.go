package write

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/pass"
)

// terminatingRetry is when a create is tried again in a namespace that is being deleted.
const terminatingRetry = 30 * time.Second

// inTerminating blocks a child that would be created in a namespace in which a create was
// refused a moment ago, because the namespace is being deleted.
func inTerminating(p *pass.Pass, c *pass.Child) bool {
	if c.Live != nil || c.UID != "" {
		return false
	}
	wait := p.Memory.Namespaces.Wait(c.ID.Key.Namespace, p.Now)
	if wait > 0 {
		namespaceTerminates(c, wait)
	}
	return wait > 0
}

// refusedByNamespace ends a child whose create was refused because its namespace is being deleted. It
// is no error: neither the plan nor the API server is wrong.
func refusedByNamespace(p *pass.Pass, c *pass.Child, err error) bool {
	if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return false
	}
	p.Memory.Namespaces.Terminates(c.ID.Key.Namespace, p.Now.Add(terminatingRetry))
	namespaceTerminates(c, terminatingRetry)
	return true
}

func namespaceTerminates(c *pass.Child, wait time.Duration) {
	c.Action = pass.ActionNone
	c.Result.Outcome, c.Result.Reason, c.Result.Err = apply.OutcomeBlocked, apply.ReasonNamespaceTerminating, nil
	c.Result.RequeueAfter, c.Requeue = wait, wait
}

// noteNamespace notes a namespace that this reconciliation has created.
func noteNamespace(p *pass.Pass, c *pass.Child) {
	if c.Result.Outcome == apply.OutcomeCreated && c.ID.GroupKind == (schema.GroupKind{Kind: "Namespace"}) {
		p.Memory.Namespaces.Created(c.ID.Key.Name)
	}
}
