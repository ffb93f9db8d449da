package main

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta1 "github.com/reconcilekit/reconcilekit/examples/grafana/api/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/grafana/dashboard"
	"github.com/reconcilekit/reconcilekit/examples/grafana/folder"
	"github.com/reconcilekit/reconcilekit/examples/grafana/instance"
)

// given is a complete external instance at http://main.test, with its credentials.
const given = `
apiVersion: grafana.integreatly.org/v1beta1
kind: Grafana
metadata: {name: main, labels: {dashboards: grafana}}
spec:
  external:
    url: http://main.test
    adminUser: {name: credentials, key: user}
    adminPassword: {name: credentials, key: password}
status: {stage: complete, stageStatus: success}
---
apiVersion: v1
kind: Secret
metadata: {name: credentials}
data: {user: YWRtaW4=, password: c2VjcmV0}
`

// converge searches for faults of the controllers in 40 sampled cases; RECONCILETEST_CASES=all runs all. The first calls
// of Grafana fail one after the other: a call does not arrive, or its response is lost.
func converge(t *testing.T, s reconciletest.System, controllers func(calls *http.Client) []*controller.Controller) {
	t.Helper()
	t.Parallel()
	caches, err := controller.CacheOptions(env.Scheme, controllers(http.DefaultClient)...)
	if err != nil {
		t.Fatal(err)
	}
	s.Scheme, s.CRDPaths, s.Cache, s.Cases = env.Scheme, []string{"config/crd"}, caches, 40
	s.Outside = func() any {
		return &fakeGrafana{fault: func(call int) fault {
			const last = 3
			if call > last {
				return noFault
			}
			return fault(call % 3)
		}}
	}
	s.Setup = func(mgr ctrl.Manager) error {
		for _, c := range controllers(reconciletest.OutsideOf(mgr).(*fakeGrafana).client()) {
			if err := c.SetupWithManager(mgr); err != nil {
				return err
			}
		}
		return nil
	}
	s.StandIns = append(s.StandIns, func(ctx context.Context, c client.Client) error { return nothingRemains(ctx, t, c) })
	reconciletest.Converge(t, s)
}

// nothingRemains checks that Grafana has no resource without an owner.
func nothingRemains(ctx context.Context, t *testing.T, c client.Client) error {
	var folders v1beta1.GrafanaFolderList
	var dashboards v1beta1.GrafanaDashboardList
	if err := errors.Join(c.List(ctx, &folders), c.List(ctx, &dashboards)); err != nil {
		return err
	}
	left := reconciletest.OutsideFrom(ctx).(*fakeGrafana).contents("main.test")
	if len(left) > len(folders.Items)+len(dashboards.Items) {
		t.Errorf("Grafana has %v, the cluster has %d folders and %d dashboards", left, len(folders.Items), len(dashboards.Items))
	}
	return nil
}

// TestInstanceConverges checks that an instance reaches its desired state despite failing requests, restarts and edits.
func TestInstanceConverges(t *testing.T) {
	converge(t, reconciletest.System{
		Owners: []client.Object{&v1beta1.Grafana{ObjectMeta: metav1.ObjectMeta{Name: "main"}}},
		Change: func(o client.Object) {
			o.(*v1beta1.Grafana).Spec = v1beta1.GrafanaSpec{
				Version: "12.3.1",
				Config:  map[string]map[string]string{"log": {"mode": "console"}},
				Deployment: &v1beta1.Override{Spec: &runtime.RawExtension{Raw: []byte(
					`{"replicas":2,"template":{"spec":{"containers":[{"name":"grafana","env":[{"name":"A","value":"b"}]}]}}}`)}},
				PersistentVolumeClaim: &v1beta1.Override{Spec: &runtime.RawExtension{Raw: []byte(
					`{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}`)}},
			}
		},
		StandIns: []reconciletest.StandIn{reconciletest.DeploymentsAvailable},
		Accepted: []reconciletest.Acceptance{{
			About:  "always of delete persistentvolumeclaims",
			Reason: "the engine retries the deletion after 5 minutes; the test waits for three reconciliations, which are a minute apart",
		}},
	}, func(*http.Client) []*controller.Controller { return []*controller.Controller{instance.Controller()} })
}

// TestFolderConverges checks that a folder reaches its desired state despite failing requests, restarts and edits.
func TestFolderConverges(t *testing.T) {
	converge(t, reconciletest.System{
		GivenYAML: given,
		Owners: []client.Object{&v1beta1.GrafanaFolder{ObjectMeta: metav1.ObjectMeta{Name: "team"}, Spec: v1beta1.GrafanaFolderSpec{
			GrafanaCommonSpec: everyInstance(), UID: "team", Title: "Team",
		}}},
		Change: func(o client.Object) { o.(*v1beta1.GrafanaFolder).Spec.Title = "Other team" },
	}, func(calls *http.Client) []*controller.Controller {
		return []*controller.Controller{folder.Controller(calls)}
	})
}

// TestDashboardConverges checks that a dashboard reaches its desired state despite failing requests, restarts and edits.
func TestDashboardConverges(t *testing.T) {
	converge(t, reconciletest.System{
		GivenYAML: given,
		Given: []client.Object{&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "model"}, Data: map[string]string{"json": `{"uid":"cpu","title":"CPU"}`},
		}},
		Owners: []client.Object{&v1beta1.GrafanaDashboard{ObjectMeta: metav1.ObjectMeta{Name: "cpu"}, Spec: v1beta1.GrafanaDashboardSpec{
			GrafanaCommonSpec: everyInstance(), JSON: `{"uid":"memory","title":"Memory"}`,
		}}},
		Change: func(o client.Object) {
			spec := &o.(*v1beta1.GrafanaDashboard).Spec
			spec.JSON, spec.ConfigMapRef = "", &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "model"}, Key: "json"}
		},
	}, func(calls *http.Client) []*controller.Controller {
		return []*controller.Controller{dashboard.Controller(calls)}
	})
}

func everyInstance() v1beta1.GrafanaCommonSpec {
	return v1beta1.GrafanaCommonSpec{InstanceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"dashboards": "grafana"}}}
}
