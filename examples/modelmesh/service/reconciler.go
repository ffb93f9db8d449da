package service

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	live "github.com/reconcilekit/reconcilekit/reconcile/settings"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/etcd"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/settings"
)

// Name is the name of the controller, and the field manager of its children.
const Name = "service"

// New declares the controller of the Service. Its groups are namespaces. The owner of the Service is the Namespace, or the
// Deployment of an operator that works only in its own namespace. The controller follows the events of a namespace while it has a
// Service; if events is nil, it follows none. It sets the certificate that the configuration names on connections, unless that is
// nil.
func New(env settings.Environment, config *settings.Live, events *etcd.Events, connections *mmesh.Connections) *controller.Controller {
	r := &Reconciler{env: env, events: events, connections: connections}
	b := controller.NewGroup(Name, r).
		Owns(&corev1.Service{}).
		Owns(monitor(""), controller.Optional).
		Reads(&corev1.ConfigMap{}).
		Reads(&corev1.Secret{})
	key := func(namespace string, member bool) []types.NamespacedName {
		if !member {
			return nil
		}
		return []types.NamespacedName{{Namespace: namespace, Name: Name}}
	}
	if env.Cluster {
		b.Members(&corev1.Namespace{}, func(o client.Object) []types.NamespacedName {
			namespace, ok := o.(*corev1.Namespace)
			return key(o.GetName(), ok && env.Enabled(namespace))
		})
	} else {
		b.Members(&appsv1.Deployment{}, func(o client.Object) []types.NamespacedName {
			return key(o.GetNamespace(), o.GetNamespace() == env.Namespace && o.GetName() == env.Deployment)
		})
	}
	return config.Bind(b, func(readers *settings.Readers) { r.config = readers }).Build()
}

type rcontext = reconcile.ReconcileContext[*controller.Group]

// Reconciler plans the Service of a namespace.
type Reconciler struct {
	env    settings.Environment
	config *settings.Readers
	events *etcd.Events

	connections *mmesh.Connections
}

var _ reconcile.Reconciler[*controller.Group, *observed, *observed] = (*Reconciler)(nil)

// observed contains the inputs of the Service of a namespace.
type observed struct {
	config   settings.Config
	owner    *metav1.OwnerReference // nil if the namespace needs no Service
	members  []controller.Member
	service  reconcile.FetchResult[*corev1.Service]
	services reconcile.FetchResult[*corev1.ServiceList]
	etcd     reconcile.FetchResult[*corev1.Secret]
	etcdName string
	noEtcd   error // why no model is served
	noTLS    error // why ModelMesh is not reached
	problem  error // the error of the read of the owner
}

// GetMembers implements controller.GroupObservation.
func (o *observed) GetMembers() []controller.Member { return o.members }

// FetchRemoteState implements reconcile.Reconciler.
func (r *Reconciler) FetchRemoteState(ctx context.Context, reader reconcile.Reader, rc rcontext) *observed {
	o := &observed{config: live.Read(r.config, rc.Request, func(c settings.Config) settings.Config { return c })}
	namespace := rc.Object.Namespace
	if o.fetchOwner(ctx, reader, r.env, namespace); o.owner == nil {
		if o.problem == nil {
			r.events.Forget(namespace)
		}
		return o
	}
	o.etcdName = r.env.EtcdSecretName(o.config)
	o.etcd = reconcile.Fetch(ctx, reader, types.NamespacedName{Namespace: r.env.Namespace, Name: o.etcdName}, &corev1.Secret{})
	o.follow(r.events, namespace)
	if name := o.config.TLS.SecretName; name != "" && r.connections != nil {
		found := reconcile.Fetch(ctx, reader, types.NamespacedName{Namespace: r.env.Namespace, Name: name}, &corev1.Secret{})
		if o.noTLS = found.Failure(); o.noTLS == nil {
			o.noTLS = r.connections.Secure(name, found.Value)
		}
	}
	o.service = reconcile.Fetch(
		ctx, reader, types.NamespacedName{Namespace: namespace, Name: o.config.InferenceServiceName}, &corev1.Service{},
	)
	o.services = reconcile.FetchList(ctx, reader, &corev1.ServiceList{}, client.InNamespace(namespace), client.HasLabels{label})
	return o
}

// follow follows the events of the namespace. The controllers of the models open the stream.
func (o *observed) follow(events *etcd.Events, namespace string) {
	var target etcd.Target
	if o.etcd.Value != nil {
		target, o.noEtcd = etcd.NewTarget(o.etcd.Value)
	} else {
		o.noEtcd = errors.New("Unable to access etcd secret with name '" + o.etcdName + "'")
	}
	switch {
	case o.noEtcd == nil:
		events.Follow(namespace, o.config.InferenceServiceName, target)
	case o.etcd.Failure() == nil:
		events.Forget(namespace)
	}
}

// fetchOwner reads the owner of the Service. An object that is being deleted is no owner.
func (o *observed) fetchOwner(ctx context.Context, reader reconcile.Reader, env settings.Environment, namespace string) {
	if env.Cluster {
		found := reconcile.Fetch(ctx, reader, types.NamespacedName{Name: namespace}, &corev1.Namespace{})
		if o.problem = found.Failure(); found.OK() && found.Value.DeletionTimestamp.IsZero() && env.Enabled(found.Value) {
			o.owner = metav1.NewControllerRef(found.Value, corev1.SchemeGroupVersion.WithKind("Namespace"))
			o.members = []controller.Member{controller.MemberOf(found.Value, nil)}
		}
		return
	}
	found := reconcile.Fetch(ctx, reader, types.NamespacedName{Namespace: env.Namespace, Name: env.Deployment}, &appsv1.Deployment{})
	if o.problem = found.Failure(); found.OK() && found.Value.DeletionTimestamp.IsZero() && namespace == env.Namespace {
		o.owner = metav1.NewControllerRef(found.Value, appsv1.SchemeGroupVersion.WithKind("Deployment"))
		o.members = []controller.Member{controller.MemberOf(found.Value, nil)}
	}
}

// PlanResources implements reconcile.Reconciler.
func (*Reconciler) PlanResources(_ context.Context, rc rcontext, o *observed) (plan reconcile.PlanResult, err error) {
	if o.owner == nil {
		plan.Policy = apply.Withdraw
		return plan, nil
	}
	c, current := o.config, o.service.Value
	plan.Inputs = c.InferenceServiceName
	o.deleteOthers(&plan)
	if current != nil && (current.Spec.ClusterIP == corev1.ClusterIPNone) != c.HeadlessService {
		plan.Delete(current) // it is recreated after the deletion: the API server does not change the type
	} else {
		plan.Apply(serviceOf(c, rc.Object.Namespace, o.owner), apply.AdoptUncontrolled, foreignLabels(current, labels(c)))
	}
	switch {
	case !c.Metrics.Enabled || c.Metrics.DisablePrometheusOperatorSupport:
	case current == nil || o.noEtcd != nil: // until it has an owner and models can be served
		plan.Keep(monitor(rc.Object.Namespace))
	default:
		plan.Apply(monitorOf(c, current), apply.AdoptUncontrolled)
	}
	return plan, nil
}

// deleteOthers deletes Services that ModelMesh had under other names, including those of the product.
func (o *observed) deleteOthers(plan *reconcile.PlanResult) {
	if o.services.Value == nil {
		return
	}
	for i := range o.services.Value.Items {
		other := &o.services.Value.Items[i]
		if _, ours := other.Annotations[apply.GroupAnnotation]; !ours && other.Name != o.config.InferenceServiceName {
			plan.Delete(other, apply.MatchLabels{label: other.Labels[label]})
		}
	}
}

// foreignLabels removes labels of others, because a ServiceMonitor selects the Service by its labels.
func foreignLabels(current *corev1.Service, wanted map[string]string) (rules apply.FieldRules) {
	if current == nil {
		return nil
	}
	for name := range current.Labels {
		if _, ours := wanted[name]; !ours && !strings.HasPrefix(name, "applyset.kubernetes.io/") {
			rules = append(rules, apply.Absent("metadata.labels["+strconv.Quote(name)+"]")...)
		}
	}
	return rules
}

// GetComponentHealth implements reconcile.Observation. Without etcd no model is served, but the Service exists.
func (o *observed) GetComponentHealth(context.Context) []health.Component {
	components := []health.Component{{Name: "Owner", Errors: []error{o.problem, o.service.Failure(), o.services.Error}}}
	if o.noEtcd != nil {
		reason := "EtcdSecretInvalid"
		if o.etcd.Value == nil {
			reason = "EtcdSecretMissing"
		}
		components = append(components, health.Component{Name: "EtcdSecret", State: health.Degraded, Reason: reason, Message: o.noEtcd.Error()})
	}
	if o.noTLS != nil {
		components = append(
			components,
			health.Component{Name: "TLSSecret", State: health.Degraded, Reason: "TLSSecretInvalid", Message: o.noTLS.Error()},
		)
	}
	return components
}
