package pipeline

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile"
)

// requested returns the token of a request for a reconciliation that this controller has not handled yet, empty if there is none.
func (p *Pipeline[T, F, O]) requested(owner client.Object) string {
	token := RequestToken(owner)
	if token == "" || p.Acknowledge == nil || owner.GetAnnotations()[HandledAnnotation(p.FieldManager)] == token ||
		p.owners.Handled(owner, token) {
		return ""
	}
	return token
}

// retry forgets the delays after failures, so that the pass repeats refused writes.
func (p *Pipeline[T, F, O]) retry(request ctrl.Request, owner client.Object) {
	if p.Retry != nil {
		p.Retry(owner.GetUID())
	}
	p.failures.Forget(request)
}

// ended reports whether the pass has run all phases. The pass of a migrated owner, or one whose reads are not available yet, is followed by
// another one.
func (p *pass[T, F, O]) ended(report *reconcile.Report) bool {
	return p.reads != nil && p.reads.waiting == nil && !report.Applied.Finalized
}

// acknowledge stores the token on the owner. A request whose confirmation cannot be stored is not handled again by this process, because
// every pass would repeat refused writes.
func (p *pass[T, F, O]) acknowledge(ctx context.Context, report *reconcile.Report, token string) {
	ctx, end := toWriteStatus(ctx)
	defer end()
	p.owners.Handle(p.owner, token)
	after, err := p.Acknowledge(ctx, p.owner, token)
	switch {
	case client.IgnoreNotFound(err) != nil:
		report.Outcome.Fail(fmt.Errorf("confirm the requested reconciliation: %w", err))
	case err == nil:
		p.rc.Log.Info("requested reconciliation done", "request", token)
		p.owners.Wrote(after, p.rc.Now)
	}
}
