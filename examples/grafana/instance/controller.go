// Package instance reconciles Grafana.
package instance

import (
	"context"
	"errors"
	"fmt"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/secrets"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta1 "github.com/reconcilekit/reconcilekit/examples/grafana/api/v1beta1"
)

type rcontext = reconcile.ReconcileContext[*v1beta1.Grafana]

// observed contains the credentials of a server that the operator runs, and the Secrets of an external one.
type observed struct {
	admin    reconcile.FetchResult[map[string][]byte]
	external []credential
}

// credential is a value in a Secret that a user provides.
type credential struct {
	ref    corev1.SecretKeySelector
	secret reconcile.FetchResult[*corev1.Secret]
}

// GetComponentHealth reports the Secrets that a user provides, in addition to the children.
func (o observed) GetComponentHealth(context.Context) (components []health.Component) {
	for _, c := range o.external {
		components = append(components, c.secret.Upstream("Credentials", func(secret *corev1.Secret) (found health.Component) {
			if len(secret.Data[c.ref.Key]) == 0 {
				found.Errors = []error{health.NewError(health.MissingUpstreamDependency, "CredentialsMissing",
					fmt.Sprintf("Secret %s has no key %s; spec.external refers to it", c.ref.Name, c.ref.Key), nil)}
			}
			return found
		}))
	}
	return components
}

type reconciler struct{}

var (
	_ reconcile.Reconciler[*v1beta1.Grafana, observed, observed]                   = reconciler{}
	_ reconcile.StatusDecorator[v1beta1.GrafanaStatus, *v1beta1.Grafana, observed] = reconciler{}
)

// Controller declares the kinds that the reconciler reads and writes.
func Controller() *controller.Controller {
	return controller.New("grafana", reconciler{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&corev1.Secret{}).
		Owns(&corev1.Service{}).
		Owns(&corev1.PersistentVolumeClaim{}).
		Owns(&appsv1.Deployment{}).
		Owns(&networkingv1.Ingress{}).
		Options(controller.Options{InspectChildren: true}).
		Build()
}

// FetchRemoteState reads the credentials. The password of a server that the operator runs is generated once.
func (reconciler) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc rcontext) (o observed) {
	grafana := rc.Object
	at := func(name string) client.ObjectKey { return client.ObjectKey{Namespace: grafana.Namespace, Name: name} }
	if grafana.Spec.External == nil {
		o.admin = secrets.Fetch(ctx, r, at(grafana.AdminSecret()), secrets.Keys{
			v1beta1.AdminUserKey: secrets.Literal("admin"), v1beta1.AdminPasswordKey: secrets.Random(16),
		})
		return o
	}
	key, user, password := grafana.Credentials()
	for _, ref := range []*corev1.SecretKeySelector{key, user, password} {
		if ref != nil {
			o.external = append(o.external, credential{*ref, reconcile.Fetch(ctx, r, at(ref.Name), &corev1.Secret{})})
		}
	}
	return o
}

// PlanResources plans the children. An external server has none.
func (reconciler) PlanResources(_ context.Context, rc rcontext, o observed) (plan reconcile.PlanResult, _ error) {
	grafana := rc.Object
	if grafana.Spec.Suspend {
		plan.Policy = apply.Suspend
	}
	if grafana.Spec.External != nil {
		return plan, nil
	}
	planAdmin(&plan, grafana, o.admin)
	plan.Apply(configMap(grafana))

	deployment, err := deployment(grafana)
	service, serviceErr := service(grafana)
	claim, claimErr := volumeClaim(grafana)
	ingress, ingressErr := ingress(grafana)
	if err := errors.Join(err, serviceErr, claimErr, ingressErr); err != nil {
		return plan, health.NewError(health.InvalidSpec, "InvalidOverride", err.Error(), nil)
	}
	plan.ApplyConfiguration(deployment)
	plan.ApplyConfiguration(service)
	if grafana.Spec.PersistentVolumeClaim != nil {
		plan.ApplyConfiguration(claim)
	}
	if grafana.Spec.Ingress != nil {
		plan.ApplyConfiguration(ingress)
	}
	return plan, nil
}

// planAdmin plans the Secret with the credentials. Values of spec.config win over those that exist or are generated.
func planAdmin(plan *reconcile.PlanResult, grafana *v1beta1.Grafana, admin reconcile.FetchResult[map[string][]byte]) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: grafana.Namespace, Name: grafana.AdminSecret(), Labels: labels(grafana),
	}}
	if !admin.OK() {
		plan.Keep(secret)
		return
	}
	secret.Data = map[string][]byte{}
	generated := map[string][]byte{}
	for key, setting := range map[string]string{v1beta1.AdminUserKey: "admin_user", v1beta1.AdminPasswordKey: "admin_password"} {
		if value := grafana.Spec.Config["security"][setting]; value != "" {
			secret.Data[key] = []byte(value)
		} else {
			generated[key], secret.Data[key] = admin.Value[key], admin.Value[key]
		}
	}
	plan.Apply(secret, secrets.Rules(generated), apply.AdoptUncontrolled) // a user may restore it from a backup
}

// DecorateStatus reports the stage, as dashboards and folders wait for a complete instance.
func (reconciler) DecorateStatus(
	status *v1beta1.GrafanaStatus, cm *conditions.Manager, sc reconcile.StatusContext[*v1beta1.Grafana], _ observed,
) {
	deployed, _ := cm.Get("DeploymentReady")
	status.AdminURL, status.LastMessage = sc.Object.AdminURL(), ""
	switch {
	case sc.Blocked != nil:
		status.Stage, status.StageStatus, status.LastMessage = v1beta1.StageDeployment, v1beta1.StageFailed, conditions.Bound(sc.Blocked.Error())
	case sc.Object.Spec.External == nil && deployed.Status != metav1.ConditionTrue:
		status.Stage, status.StageStatus = v1beta1.StageDeployment, v1beta1.StageInProgress
	default:
		status.Stage, status.StageStatus = v1beta1.StageComplete, v1beta1.StageSuccess
	}
}
