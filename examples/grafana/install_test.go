package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1beta1 "github.com/reconcilekit/reconcilekit/examples/grafana/api/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/internal/installed"
)

const host = "main-service.default:3000"

// living has a server, a folder and a dashboard.
const living = `
{apiVersion: grafana.integreatly.org/v1beta1, kind: Grafana, metadata: {name: main, namespace: default, labels: {team: x}}}
---
apiVersion: grafana.integreatly.org/v1beta1
kind: GrafanaFolder
metadata: {name: main, namespace: default}
spec: {instanceSelector: {matchLabels: {team: x}}, uid: team, title: Team}
---
apiVersion: grafana.integreatly.org/v1beta1
kind: GrafanaDashboard
metadata: {name: main, namespace: default}
spec: {instanceSelector: {matchLabels: {team: x}}, folderRef: main, json: '{"title": "CPU"}'}
`

// TestInstalled checks that the operator runs with only the installed objects. It creates a folder and a dashboard over
// HTTP with the generated password, reverts edits in Grafana, and removes everything with its owner.
func TestInstalled(t *testing.T) {
	servers := &fakeGrafana{}
	listening := httptest.NewServer(servers)
	t.Cleanup(listening.Close)
	calls := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, listening.Listener.Addr().String())
	}}}
	installed.Run(t, grafanas(calls), nil, func(t *testing.T, c client.Client) {
		lives(t, c, servers)
		converts(t, c)
		refuses(t, c)
	})
}

func lives(t *testing.T, c client.Client, servers *fakeGrafana) {
	t.Helper()
	for _, object := range objects(t, living) {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	secret := &corev1.Secret{}
	until(t, "the credentials", func() error {
		return c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "main-admin-credentials"}, secret)
	})
	servers.server(host).password = string(secret.Data[v1beta1.AdminPasswordKey])
	until(t, "the Deployment", func() error {
		return errors.Join(reconciletest.DeploymentsAvailable(t.Context(), c), complete(t.Context(), c))
	})

	dashboard := named(&v1beta1.GrafanaDashboard{})
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(dashboard), dashboard); err != nil {
		t.Fatal(err)
	}
	want := []string{fmt.Sprintf(`dashboard %s: CPU in "team"`, dashboard.GetUID()), "folder team: Team"}
	contains := func() error {
		if diff := cmp.Diff(want, servers.contents(host)); diff != "" {
			return fmt.Errorf("-want +got: %s", diff)
		}
		return nil
	}
	until(t, "the resources in Grafana", contains)

	servers.edit(host, "team", "by hand")
	folder := named(&v1beta1.GrafanaFolder{})
	resync := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"resyncPeriod":"1s"}}`))
	if err := c.Patch(t.Context(), folder, resync); err != nil {
		t.Fatal(err)
	}
	until(t, "the reverted title", contains)

	if err := errors.Join(c.Delete(t.Context(), dashboard), c.Delete(t.Context(), folder)); err != nil {
		t.Fatal(err)
	}
	want = nil
	until(t, "the removal", contains)
}

func named[T client.Object](object T) T {
	object.SetNamespace("default")
	object.SetName("main")
	return object
}

func complete(ctx context.Context, c client.Client) error {
	grafana := named(&v1beta1.Grafana{})
	if err := c.Get(ctx, client.ObjectKeyFromObject(grafana), grafana); err != nil {
		return err
	}
	if !grafana.Complete() {
		return fmt.Errorf("status %+v", grafana.Status)
	}
	return nil
}

// converts checks that a write in one version, v1alpha1 or v1beta1, keeps the fields that only the other version has.
func converts(t *testing.T, c client.Client) {
	t.Helper()
	older := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "grafana.integreatly.org/v1alpha1", "kind": "Grafana", "metadata": map[string]any{"namespace": "default", "name": "kept"},
		"spec": map[string]any{"baseImage": "grafana/grafana:12.1.0", "dashboardLabelSelector": []any{map[string]any{"matchLabels": map[string]any{"a": "b"}}}},
	}}
	if err := c.Create(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	newer := &v1beta1.Grafana{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kept"}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"disableDefaultAdminSecret":true}}`))
	if err := c.Patch(t.Context(), newer, patch); err != nil {
		t.Fatal(err)
	}
	if newer.Spec.Version != "grafana/grafana:12.1.0" {
		t.Errorf("version %q, want the base image", newer.Spec.Version)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(older), older); err != nil {
		t.Fatal(err)
	}
	if kept, _, _ := unstructured.NestedSlice(older.Object, "spec", "dashboardLabelSelector"); len(kept) != 1 {
		t.Errorf("in v1alpha1 after a write in v1beta1: %v", older.Object["spec"])
	}
}

// refuses checks that the webhook refuses an override in both versions.
func refuses(t *testing.T, c client.Client) {
	t.Helper()
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		wrong := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "grafana.integreatly.org/" + version, "kind": "Grafana", "metadata": map[string]any{"namespace": "default", "name": "wrong"},
			"spec": map[string]any{"deployment": map[string]any{"spec": map[string]any{"replica": int64(1)}}},
		}}
		if err := c.Create(t.Context(), wrong); err == nil || !strings.Contains(err.Error(), `unknown field "replica"`) {
			t.Errorf("%s: got error %v, want one that names the unknown field", version, err)
		}
	}
}

func until(t *testing.T, what string, done func() error) {
	t.Helper()
	var last error
	if err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		last = done()
		return last == nil, nil
	}); err != nil {
		t.Fatalf("%s: %v: %v", what, err, last)
	}
}
