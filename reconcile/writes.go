package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Reasons of the events about objects that are deleted.
const (
	// ReasonPruned announces the deletion of children that the plan does not name any more.
	ReasonPruned = "Pruned"
	// ReasonDeleted announces a deletion that the plan asked for.
	ReasonDeleted = "Deleted"
)

// maxLogged bounds the fields of a log line and the objects of an event.
const maxLogged = 20

// tellWrites logs each write of a pass, with what it did and why, and announces the deletion of what may hold data or work. Fields are
// logged by path, never by value.
func (p *pass[T, F, O]) tellWrites(result *apply.Result) {
	if result.Owner != nil && result.OwnerErr == nil {
		logWrite(p.rc.Log, result.Owner)
	}
	var deleted [2][]string // pruned, deleted as planned
	for i := range result.Objects {
		object := &result.Objects[i]
		if !object.Wrote() {
			continue
		}
		logWrite(p.rc.Log, &object.Decision)
		name := object.GVK.Kind + " " + strings.TrimPrefix(object.Key.String(), "/")
		switch {
		case !object.HoldsData && !holds(object.GVK.GroupKind()):
		case object.Outcome == apply.Pruned:
			deleted[0] = append(deleted[0], name)
		case object.Outcome == apply.Deleted:
			deleted[1] = append(deleted[1], name)
		}
	}
	p.announceDeleted(ReasonPruned, "deleted, as the plan does not name them any more", deleted[0])
	p.announceDeleted(ReasonDeleted, "deleted, as the plan asks for", deleted[1])
}

func (p *pass[T, F, O]) announceDeleted(reason, why string, names []string) {
	if len(names) == 0 {
		return
	}
	named := names[:min(len(names), maxLogged)]
	p.event(p.owner, corev1.EventTypeNormal, reason,
		conditions.Bound(fmt.Sprintf("%d %s: %s", len(names), why, strings.Join(named, ", "))))
}

// logWrite logs one write that was accepted.
func logWrite(logger logr.Logger, d *apply.Decision) {
	values := []any{"verb", d.Verb, "kind", d.GVK.Kind, "object", d.Key, "reason", d.Reason}
	if len(d.Fields) > 0 {
		fields := make([]string, 0, min(len(d.Fields), maxLogged))
		for _, f := range d.Fields[:min(len(d.Fields), maxLogged)] {
			fields = append(fields, f.Path)
		}
		values = append(values, "fields", fields, "changed", len(d.Fields))
	}
	logger.Info("wrote", values...)
}

// holds reports whether the loss of an object of the kind may cost data or work. Only kinds of Kubernetes that are configuration and
// nothing else do not; of others, such as those of operators for databases, nothing is known.
func holds(gk schema.GroupKind) bool {
	kinds, known := configuration[gk.Group]
	return !known || !slices.Contains(kinds, gk.Kind)
}

// configuration are the kinds that hold neither data nor work, by group.
var configuration = map[string][]string{ //nolint:gochecknoglobals // a constant
	"":                             {"ConfigMap", "Service", "ServiceAccount", "Endpoints", "LimitRange", "ResourceQuota"},
	"rbac.authorization.k8s.io":    {"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"},
	"networking.k8s.io":            {"Ingress", "IngressClass", "NetworkPolicy"},
	"policy":                       {"PodDisruptionBudget"},
	"autoscaling":                  {"HorizontalPodAutoscaler"},
	"discovery.k8s.io":             {"EndpointSlice"},
	"scheduling.k8s.io":            {"PriorityClass"},
	"admissionregistration.k8s.io": {"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"},
	"gateway.networking.k8s.io":    {"Gateway", "GatewayClass", "HTTPRoute", "GRPCRoute", "ReferenceGrant"},
}
