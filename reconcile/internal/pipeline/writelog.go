package pipeline

import (
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// maxLogged limits the fields of a log line and the objects of an event.
const maxLogged = 20

// logWrites logs each write of a pass, with its effect and reason. It returns the names of deleted objects that may have
// had data or work: those that were no longer planned, and those that the plan deletes. It logs the paths of fields, never their values.
func logWrites(logger logr.Logger, result *apply.Result) (pruned, deleted []string) {
	if result.Owner != nil && result.OwnerErr == nil {
		logWrite(logger, result.Owner)
	}
	for i := range result.Objects {
		object := &result.Objects[i]
		if !object.Wrote() {
			continue
		}
		logWrite(logger, &object.Decision)
		name := object.GVK.Kind + " " + strings.TrimPrefix(object.Key.String(), "/")
		switch {
		case !object.HoldsData && !holdsData(object.GVK.GroupKind()):
		case object.Outcome == apply.OutcomePruned:
			pruned = append(pruned, name)
		case object.Outcome == apply.OutcomeDeleted:
			deleted = append(deleted, name)
		}
	}
	return pruned, deleted
}

// keyTarget is the log key of the written object. The lines of controller-runtime have the owner as "object".
const keyTarget = "target"

// logWrite logs one accepted write.
func logWrite(logger logr.Logger, d *apply.Decision) {
	values := []any{"verb", d.Verb, "kind", d.GVK.Kind, keyTarget, d.Key, "reason", d.Reason}
	if len(d.Fields) > 0 {
		fields := make([]string, 0, min(len(d.Fields), maxLogged))
		for _, f := range d.Fields[:min(len(d.Fields), maxLogged)] {
			fields = append(fields, f.Path)
		}
		values = append(values, "fields", fields, "changed", len(d.Fields))
	}
	logger.Info("wrote", values...)
}

// holdsData reports whether the loss of an object of the kind may lose data or work. It returns false only for kinds of Kubernetes that are
// pure configuration. Other kinds, such as those of operators for databases, are unknown.
func holdsData(gk schema.GroupKind) bool {
	kinds, known := configuration[gk.Group]
	return !known || !slices.Contains(kinds, gk.Kind)
}

// configuration has the kinds without data or work, by group.
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
