// Package guardrails contains the code that both kinds of guardrails share: the account, the CA certificates, and the common fields
// of their Deployments, Services and routes.
package guardrails

import (
	"fmt"
	"strings"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/naming"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/proxy"
)

// Domain is the prefix of a pod annotation with the hash of a configuration. The name of the configuration follows it.
const Domain = "trustyai.opendatahub.io/"

// The phases.
const (
	Progressing = "Progressing"
	Ready       = "Ready"
	Error       = "Error"
)

// Name returns the name of an object, a container or a volume of an owner. It is a valid label for every name of an owner.
func Name(owner, suffix string) string { return naming.DNSLabel(owner + suffix) }

// Labels returns the labels of an owner's objects.
func Labels(owner string) map[string]string {
	return map[string]string{"app": owner, "component": owner}
}

// PodLabels returns the labels of the Deployment and of its pods, which it selects.
func PodLabels(owner string) map[string]string {
	return map[string]string{
		"app": owner, "component": owner, "deploy-name": owner, "app.kubernetes.io/instance": owner, "app.kubernetes.io/name": owner,
		"app.kubernetes.io/part-of": "trustyai",
	}
}

// Account plans the ServiceAccount of the pods, with the permission to review tokens and access.
func Account(plan *reconcile.PlanResult, owner client.Object) {
	name, namespace := owner.GetName(), owner.GetNamespace()
	account := Name(name, "-serviceaccount")
	labels := map[string]string{"app.kubernetes.io/managed-by": "trustyai-service-operator", "app": name, "component": namespace}
	plan.Apply(
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account, Labels: labels}},
		apply.AdoptUncontrolled,
	)
	plan.Apply(&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name + "-" + namespace + "-auth-delegator", Labels: labels},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:auth-delegator"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: namespace}},
	}, apply.AdoptUncontrolled, apply.Recreate())
}

// Deployment returns the Deployment of an owner, without annotations, containers and volumes. It selects its pods by some of their
// labels.
func Deployment(owner client.Object, replicas int32, selector map[string]string) *appsv1.Deployment {
	name := owner.GetName()
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: owner.GetNamespace(), Name: name, Labels: PodLabels(name)}}
	d.Spec.Replicas, d.Spec.Selector = &replicas, &metav1.LabelSelector{MatchLabels: selector}
	d.Spec.Template.Labels = PodLabels(name)
	return d
}

// Service returns a Service of the owner's pods. The cluster writes its certificate into the Secret with the suffix -tls.
func Service(owner client.Object, name string, ports ...corev1.ServicePort) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Namespace: owner.GetNamespace(), Name: name, Labels: Labels(owner.GetName()),
		Annotations: map[string]string{"service.beta.openshift.io/serving-cert-secret-name": Name(owner.GetName(), "-tls")},
	}}
	s.Spec.Selector, s.Spec.Ports = Labels(owner.GetName()), ports
	s.Spec.IPFamilies, s.Spec.IPFamilyPolicy = []corev1.IPFamily{corev1.IPv4Protocol}, new(corev1.IPFamilyPolicySingleStack)
	return s
}

// Port returns a port of a Service, with the port of its pods.
func Port(name string, port, target int32) corev1.ServicePort {
	return corev1.ServicePort{Name: name, Port: port, TargetPort: intstr.FromInt32(target), Protocol: corev1.ProtocolTCP}
}

// CABundle plans the ConfigMap into which the cluster writes the certificate of its authority.
func CABundle(plan *reconcile.PlanResult, owner client.Object) {
	plan.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: owner.GetNamespace(), Name: Name(owner.GetName(), "-ca-bundle"), Labels: Labels(owner.GetName()),
		Annotations: map[string]string{"service.beta.openshift.io/inject-cabundle": "true"},
	}}, apply.AdoptUncontrolled)
}

// Proxy plans the configuration of a proxy of a part of the owner.
func Proxy(plan *reconcile.PlanResult, owner client.Object, name, part string, sidecar proxy.Sidecar) {
	labels := map[string]string{
		"app": owner.GetName(), "app.kubernetes.io/instance": owner.GetName(), "app.kubernetes.io/name": owner.GetName(),
		"app.kubernetes.io/part-of": "trustyai", "app.kubernetes.io/component": "kube-rbac-proxy", "component": part,
	}
	plan.Apply(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: owner.GetNamespace(), Name: name, Labels: labels},
		Data:       map[string]string{"config.yaml": sidecar.Config()},
	}, apply.AdoptUncontrolled)
}

// Route publishes a port of a Service.
type Route struct{ Name, Service, Port, Termination string }

// Apply plans the route.
func (r Route) Apply(plan *reconcile.PlanResult, owner client.Object) {
	plan.Apply(&foreign.Route{
		ObjectMeta: metav1.ObjectMeta{Namespace: owner.GetNamespace(), Name: r.Name, Labels: Labels(owner.GetName())},
		Spec: foreign.RouteSpec{
			To: foreign.RouteTarget{Kind: "Service", Name: r.Service, Weight: 100}, Port: foreign.RoutePort{TargetPort: r.Port},
			TLS: foreign.RouteTLS{Termination: r.Termination, InsecureEdgeTerminationPolicy: "Redirect"}, WildcardPolicy: "None",
		},
	}, apply.AdoptUncontrolled)
}

// Readiness sets the condition of a part, with the message of the product. A problem is the reason why the state is unknown.
func Readiness(cm *conditions.Manager, part string, ready bool, problems []string) bool {
	condition := part + "Ready"
	switch {
	case len(problems) > 0:
		cm.MarkFalse(
			condition, part+"ReadinessCheckFailed",
			conditions.Bound(fmt.Sprintf("%s readiness check failed: %s", part, strings.Join(problems, "\n"))),
		)
	case ready:
		cm.MarkTrue(condition, condition, part+" is ready")
	default:
		cm.MarkFalse(condition, part+"NotReady", part+" is not ready")
	}
	return ready && len(problems) == 0
}
