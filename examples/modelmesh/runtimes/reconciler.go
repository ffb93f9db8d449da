package runtimes

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/settings"
)

type rcontext = reconcile.ReconcileContext[*controller.Group]

// Reconciler plans the children of the runtimes of a namespace.
type Reconciler struct {
	env    settings.Environment
	config *settings.Readers
}

var (
	_ reconcile.Reconciler[*controller.Group, *fetched, *observed] = (*Reconciler)(nil)
	_ reconcile.Composer[*controller.Group, *fetched, *observed]   = (*Reconciler)(nil)
)

// observed is the desired state of a namespace.
type observed struct {
	*fetched
	parts []part // by name of the runtime
	all   []controller.Member
}

// part contains the children of one runtime, or nil, or the reason why they stay as they are.
type part struct {
	name    string // the name of its Deployment
	refused error
	*workload
}

// ComposeState implements reconcile.Composer. An error in one runtime does not block the others.
func (r *Reconciler) ComposeState(_ context.Context, _ rcontext, f *fetched) *observed {
	o := &observed{fetched: f}
	refusals, members := map[string]error{}, f.members[:len(f.members):len(f.members)]
	for i := range f.runtimes {
		runtime := &f.runtimes[i]
		p := part{name: f.config.InferenceServiceName + "-" + runtime.Name}
		if !runtime.served() {
			o.parts = append(o.parts, p)
			continue
		}
		if p.workload, p.refused = f.workload(r.env, runtime, p.name); p.refused != nil {
			p.refused = fmt.Errorf("runtime %s: Invalid runtime Spec: %w", runtime.Name, p.refused)
			refusals[runtime.Name] = p.refused
		}
		o.parts = append(o.parts, p)
	}
	for i := range f.namespaced {
		members = append(members, controller.MemberOf(&f.namespaced[i], refusals[f.namespaced[i].Name]))
	}
	o.all = members
	return o
}

// GetMembers implements controller.GroupObservation.
func (o *observed) GetMembers() []controller.Member { return o.all }

// PlanResources implements reconcile.Reconciler.
func (r *Reconciler) PlanResources(_ context.Context, _ rcontext, o *observed) (plan reconcile.PlanResult, err error) {
	plan.Inputs = o.inputs()
	if len(o.runtimes) == 0 { // also where the namespace is not enabled
		plan.Policy = apply.Withdraw
		return plan, nil
	}
	constraints, err := ConfigMap(o.namespace, o.runtimes, o.config.RESTProxy.Enabled)
	if err != nil {
		return plan, err
	}
	plan.Apply(constraints, apply.AdoptUncontrolled)
	if o.namespace != r.env.Namespace && o.etcd.Value != nil {
		secret, err := derivedSecret(o.etcd.Value, o.namespace)
		if err != nil {
			return plan, health.NewError(health.MissingUpstreamDependency, "EtcdSecretInvalid", err.Error(), nil)
		}
		plan.Apply(secret, apply.AdoptUncontrolled)
	}
	for _, p := range o.parts {
		meta := metav1.ObjectMeta{Namespace: o.namespace, Name: p.name}
		deployment, autoscaler := &appsv1.Deployment{ObjectMeta: meta}, &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: meta}
		switch {
		case p.refused != nil: // running pods keep serving
			plan.Keep(deployment)
			plan.Keep(autoscaler)
		case p.workload == nil: // deleted explicitly: after a restart, a prune could be unsafe
			plan.Delete(deployment)
			plan.Delete(autoscaler)
		default:
			p.apply(&plan)
			if p.autoscaler == nil {
				plan.Delete(autoscaler)
			}
		}
	}
	return plan, nil
}

// inputs returns the inputs that decide which children exist.
func (o *observed) inputs() string {
	var names []string
	for _, p := range o.parts {
		scaled := p.workload != nil && p.autoscaler != nil
		names = append(names, fmt.Sprint(p.name, scaled))
	}
	return strings.Join(names, ",")
}

// GetComponentHealth implements reconcile.Observation. A missing required input blocks all runtimes; an invalid spec blocks only its
// own.
func (o *observed) GetComponentHealth(context.Context) []health.Component {
	components := []health.Component{{Name: "Namespace", Errors: []error{o.problem}}}
	if len(o.runtimes) > 0 {
		components = append(components, o.etcd.Upstream("EtcdSecret", nil), o.tls.Upstream("TLSSecret", nil))
	}
	var refused []error
	for _, p := range o.parts {
		refused = append(refused, p.refused)
	}
	if err := errors.Join(refused...); err != nil {
		components = append(components, health.Component{
			Name: "Runtimes", State: health.Degraded, Reason: "RuntimeRefused", Message: err.Error(),
		})
	}
	return components
}
