package operator_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	sdk "github.com/reconcilekit/reconcilekit/reconcile/operator"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/authpolicy"
	"github.com/reconcilekit/reconcilekit/examples/maas/externalmodel"
	"github.com/reconcilekit/reconcilekit/examples/maas/modelref"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
	"github.com/reconcilekit/reconcilekit/examples/maas/operator"
	"github.com/reconcilekit/reconcilekit/examples/maas/subscription"
)

// casesPerController is the number of sampled cases, of several hundred; RECONCILETEST_CASES=all runs all.
const casesPerController = 15

// served has two served models of external providers.
var served = gateway + chat + strings.ReplaceAll(chat, "chat", "code")

const (
	gateway = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: maas-default-gateway, namespace: openshift-ingress}
spec: {gatewayClassName: x, listeners: [{name: http, port: 80, protocol: HTTP, hostname: maas.example.com}]}
`
	chat = chatModel + chatRef + chatRoute

	chatModel = `
---
apiVersion: maas.opendatahub.io/v1alpha1
kind: ExternalModel
metadata: {name: chat, namespace: default}
spec: {provider: openai, targetModel: gpt, endpoint: api.openai.com, credentialRef: {name: key}}
`
	chatRef = `
---
apiVersion: maas.opendatahub.io/v1alpha1
kind: MaaSModelRef
metadata: {name: chat, namespace: default}
spec: {modelRef: {kind: ExternalModel, name: chat}}
`
	chatRoute = `
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: chat, namespace: default}
spec: {parentRefs: [{name: maas-default-gateway, namespace: openshift-ingress}]}
status:
  parents:
  - parentRef: {name: maas-default-gateway, namespace: openshift-ingress}
    controllerName: example.com/gateway
    conditions: [{type: Accepted, status: "True", reason: Accepted, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]
`
)

func system(t *testing.T, setup func(manager.Manager) error) reconciletest.System {
	t.Helper()
	known := runtime.NewScheme()
	if err := models.AddToScheme(known); err != nil {
		t.Fatal(err)
	}
	s := reconciletest.System{
		Setup: setup, Scheme: known, CRDPaths: []string{"../config/crd", "../config/foreign"}, Cases: casesPerController,
	}
	var maas sdk.Operator
	err := operator.Configure(&maas, config, moment, operator.Catalog{})
	if err == nil {
		s.Cache, err = controller.CacheOptions(known, maas.Controllers...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func modelsOf(names ...string) []maasv1alpha1.ModelRef {
	refs := make([]maasv1alpha1.ModelRef, 0, len(names))
	for _, name := range names {
		refs = append(refs, maasv1alpha1.ModelRef{Name: name, Namespace: "default"})
	}
	return refs
}

// TestSubscriptionsConverge checks three subscriptions that share a policy, of which one changes to another model.
func TestSubscriptionsConverge(t *testing.T) {
	t.Parallel()
	reconciletest.Converge(t, subscriptions(t))
}

func subscriptions(t *testing.T) reconciletest.System {
	t.Helper()
	s := system(t, func(mgr manager.Manager) error {
		limits, err := subscription.NewLimits()
		return errors.Join(err, limits.SetupWithManager(mgr), subscription.New(limits).SetupWithManager(mgr))
	})
	s.GivenYAML, s.StandIns = served, []reconciletest.StandIn{approve(models.TokenRateLimitPolicy)}
	for _, name := range []string{"a", "b", "c"} {
		s.Owners = append(s.Owners, &maasv1alpha1.MaaSSubscription{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       &maasv1alpha1.MaaSSubscriptionSpec{ModelRefs: limited("chat", 100)},
		})
	}
	s.Change = func(owner client.Object) {
		refs := limited("chat", 200)
		if owner.GetName() == "b" {
			refs = limited("code", 200)
		}
		owner.(*maasv1alpha1.MaaSSubscription).Spec.ModelRefs = refs
	}
	return s
}

func limited(model string, tokens int64) []maasv1alpha1.ModelSubscriptionRef {
	return []maasv1alpha1.ModelSubscriptionRef{{
		ModelRef: modelsOf(model)[0], TokenRateLimits: []maasv1alpha1.TokenRateLimit{{Limit: tokens, Window: "1h"}},
	}}
}

// TestAuthPoliciesConverge checks three auth policies that share a policy, of which one changes to another model.
func TestAuthPoliciesConverge(t *testing.T) {
	t.Parallel()
	reconciletest.Converge(t, authPolicies(t))
}

func authPolicies(t *testing.T) reconciletest.System {
	t.Helper()
	s := system(t, func(mgr manager.Manager) error {
		access, err := authpolicy.NewAccess(config)
		return errors.Join(err, access.SetupWithManager(mgr), authpolicy.New(access).SetupWithManager(mgr))
	})
	s.GivenYAML, s.StandIns = served, []reconciletest.StandIn{approve(models.AuthPolicy)}
	for _, name := range []string{"a", "b", "c"} {
		s.Owners = append(s.Owners, &maasv1alpha1.MaaSAuthPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       &maasv1alpha1.MaaSAuthPolicySpec{ModelRefs: modelsOf("chat"), Subjects: maasv1alpha1.SubjectSpec{Users: []string{name}}},
		})
	}
	s.Change = func(owner client.Object) {
		spec := owner.(*maasv1alpha1.MaaSAuthPolicy).Spec
		spec.Subjects.Users = append(spec.Subjects.Users, "everybody")
		if owner.GetName() == "b" {
			spec.ModelRefs = modelsOf("code")
		}
	}
	return s
}

func TestExternalModelConverges(t *testing.T) {
	t.Parallel()
	reconciletest.Converge(t, externalModel(t))
}

func externalModel(t *testing.T) reconciletest.System {
	t.Helper()
	s := system(t, func(mgr manager.Manager) error {
		external, err := externalmodel.New(config)
		return errors.Join(err, external.SetupWithManager(mgr))
	})
	s.Owners = []client.Object{&maasv1alpha1.ExternalModel{
		ObjectMeta: metav1.ObjectMeta{Name: "chat"},
		Spec: &maasv1alpha1.ExternalModelSpec{
			Provider: "openai", TargetModel: "gpt", Endpoint: "api.openai.com", CredentialRef: maasv1alpha1.CredentialReference{Name: "key"},
		},
	}}
	s.Change = func(owner client.Object) { owner.(*maasv1alpha1.ExternalModel).Spec.Endpoint = "eu.api.openai.com" }
	return s
}

func TestModelRefConverges(t *testing.T) {
	t.Parallel()
	reconciletest.Converge(t, modelRef(t))
}

func modelRef(t *testing.T) reconciletest.System {
	t.Helper()
	s := system(t, func(mgr manager.Manager) error { return modelref.New(config).SetupWithManager(mgr) })
	s.GivenYAML = served
	s.Owners = []client.Object{&maasv1alpha1.MaaSModelRef{
		ObjectMeta: metav1.ObjectMeta{Name: "mine"},
		Spec: &maasv1alpha1.MaaSModelRefSpec{ModelRef: maasv1alpha1.ModelReference{
			Kind: maasv1alpha1.BackendExternalModel, Name: "chat",
		}},
	}}
	s.Change = func(owner client.Object) { owner.(*maasv1alpha1.MaaSModelRef).Spec.ModelRef.Name = "code" }
	return s
}

// approve stands in for Kuadrant: it sets every policy accepted and enforced.
func approve(gvk schema.GroupVersionKind) reconciletest.StandIn {
	return func(ctx context.Context, c client.Client) error {
		list := models.List(gvk)
		if err := c.List(ctx, list); err != nil {
			return err
		}
		for i := range list.Items {
			policy := &list.Items[i]
			if len(models.Conditions(policy)) > 0 {
				continue
			}
			var conditions []any
			for _, name := range []string{"Accepted", "Enforced"} {
				conditions = append(conditions, map[string]any{
					"type": name, "status": "True", "reason": name, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
				})
			}
			if err := unstructured.SetNestedSlice(policy.Object, conditions, "status", "conditions"); err != nil {
				return err
			}
			if err := c.Status().Update(ctx, policy); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
		return nil
	}
}
