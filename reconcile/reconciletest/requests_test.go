package reconciletest_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

func TestParseRequest(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason      string
		method      string
		url         string
		contentType string
		body        string
		want        reconciletest.Request
		line        string
		write       bool
	}{
		"core object": {
			reason: "the core group is empty", method: "GET", url: "/api/v1/namespaces/shop/configmaps/web",
			want: reconciletest.Request{Verb: "get", Resource: "configmaps", Namespace: "shop", Name: "web"},
			line: "get configmaps shop/web",
		},
		"live list": {
			reason: "without a resource version nobody's cache answers", method: "GET", url: "/apis/apps/v1/deployments",
			want: reconciletest.Request{Verb: "list", Group: "apps", Resource: "deployments"},
			line: "list apps/deployments",
		},
		"informer list": {
			reason: "resourceVersion=0 is what reflectors send", method: "GET",
			url:  "/apis/apps/v1/deployments?limit=500&resourceVersion=0",
			want: reconciletest.Request{Verb: "list", Group: "apps", Resource: "deployments", Informer: true},
			line: "list apps/deployments",
		},
		"watch": {
			reason: "a watch keeps a cache", method: "GET", url: "/api/v1/namespaces/shop/pods?watch=true",
			want: reconciletest.Request{Verb: "watch", Resource: "pods", Namespace: "shop", Informer: true},
			line: "watch pods shop",
		},
		"apply": {
			reason: "the content type tells apply from patch", method: "PATCH",
			url: "/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=me&force=true", contentType: "application/apply-patch+yaml",
			want: reconciletest.Request{
				Verb: "apply", Group: "apps", Resource: "deployments", Namespace: "shop", Name: "web", FieldManager: "me",
			},
			line: "apply apps/deployments shop/web", write: true,
		},
		"apply in CBOR": {
			reason: "the encoding does not matter", method: "PATCH",
			url: "/api/v1/namespaces/shop/services/web", contentType: "application/apply-patch+cbor",
			want: reconciletest.Request{Verb: "apply", Resource: "services", Namespace: "shop", Name: "web"},
			line: "apply services shop/web", write: true,
		},
		"status patch": {
			reason: "a subresource is not the object", method: "PATCH",
			url: "/apis/apps/v1/namespaces/shop/deployments/web/status", contentType: "application/merge-patch+json",
			want: reconciletest.Request{
				Verb: "patch", Group: "apps", Resource: "deployments", Subresource: "status", Namespace: "shop", Name: "web",
			},
			line: "patch apps/deployments/status shop/web", write: true,
		},
		"dry run": {
			reason: "a dry run stores nothing", method: "PUT", url: "/api/v1/namespaces/shop/services/web?dryRun=All",
			want: reconciletest.Request{Verb: "update", Resource: "services", Namespace: "shop", Name: "web", DryRun: true},
			line: "update services shop/web (dry run)",
		},
		"delete": {
			reason: "options in the body are no dry run", method: "DELETE", url: "/api/v1/namespaces/shop/services/web",
			body: `{"kind":"DeleteOptions","preconditions":{"uid":"1"},"propagationPolicy":"Background"}`,
			want: reconciletest.Request{Verb: "delete", Resource: "services", Namespace: "shop", Name: "web"},
			line: "delete services shop/web", write: true,
		},
		"delete dry": {
			reason: "clients send dryRun of a delete in the body", method: "DELETE", url: "/api/v1/namespaces/shop/services/web",
			body: `{"kind":"DeleteOptions","dryRun":["All"]}`,
			want: reconciletest.Request{Verb: "delete", Resource: "services", Namespace: "shop", Name: "web", DryRun: true},
			line: "delete services shop/web (dry run)",
		},
		"delete many": {
			reason: "a delete without a name is about the collection", method: "DELETE", url: "/api/v1/namespaces/shop/pods",
			want: reconciletest.Request{Verb: "deletecollection", Resource: "pods", Namespace: "shop"},
			line: "deletecollection pods shop", write: true,
		},
		"create": {
			reason: "the name of a created object is in its body", method: "POST", url: "/api/v1/namespaces/shop/pods",
			want: reconciletest.Request{Verb: "create", Resource: "pods", Namespace: "shop"},
			line: "create pods shop", write: true,
		},
		"namespace": {
			reason: "a namespace is an object too", method: "DELETE", url: "/api/v1/namespaces/shop",
			want: reconciletest.Request{Verb: "delete", Resource: "namespaces", Name: "shop"},
			line: "delete namespaces shop", write: true,
		},
		"finalize namespace": {
			reason: "finalize is no resource inside the namespace", method: "PUT", url: "/api/v1/namespaces/shop/finalize",
			want: reconciletest.Request{Verb: "update", Resource: "namespaces", Subresource: "finalize", Name: "shop"},
			line: "update namespaces/finalize shop", write: true,
		},
		"behind a proxy": {
			reason: "a prefix is no part of the API", method: "GET", url: "/k8s/clusters/c-1/api/v1/nodes/n",
			want: reconciletest.Request{Verb: "get", Resource: "nodes", Name: "n"},
			line: "get nodes n",
		},
		"discovery": {
			reason: "discovery names no resource", method: "GET", url: "/apis/apps/v1",
			want: reconciletest.Request{Verb: "get", Path: "/apis/apps/v1"},
			line: "get /apis/apps/v1",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			request, err := http.NewRequestWithContext(t.Context(), tc.method, "https://server"+tc.url, strings.NewReader(tc.body))
			if err != nil {
				t.Fatal(err)
			}

			request.Header.Set("Content-Type", tc.contentType)

			got := reconciletest.ParseRequest(request)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.line, got.String()); diff != "" {
				t.Errorf("line (-want +got):\n%s", diff)
			}

			if got.IsWrite() != tc.write {
				t.Errorf("IsWrite() = %t, want %t", got.IsWrite(), tc.write)
			}
		})
	}
}

func FuzzParseRequest(f *testing.F) {
	f.Add("GET", "/api/v1/namespaces/shop/pods/web/log", "")
	f.Add("PATCH", "/apis/apps/v1/namespaces", "application/apply-patch+yaml")
	f.Add("DELETE", "//api///v1//", "")
	f.Fuzz(func(t *testing.T, method, path, contentType string) {
		request, err := http.NewRequestWithContext(t.Context(), method, "https://server/", nil)
		if err != nil {
			t.Skip("no method")
		}

		request.URL.Path = path
		request.Header.Set("Content-Type", contentType)

		got := reconciletest.ParseRequest(request)
		if got.Verb == "" {
			t.Errorf("%s %q has no verb", method, path)
		}

		if (got.Resource == "") == (got.Path == "") && path != "" {
			t.Errorf("%s %q is both or neither of resource and path: %+v", method, path, got)
		}

		if got != reconciletest.ParseRequest(request) {
			t.Errorf("%s %q is read differently the second time", method, path)
		}
	})
}

// TestRequestsCountsEveryClientVerb sends one request of each kind with the
// clients that reconcilers use.
func TestRequestsCountsEveryClientVerb(t *testing.T) {
	t.Parallel()

	namespace := env.Namespace(t)

	var requests reconciletest.Requests

	c, err := client.New(requests.Observe(env.Config()), client.Options{})
	if err != nil {
		t.Fatal(err)
	}

	ctx := t.Context()
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "settings"}}
	key := client.ObjectKeyFromObject(config)

	steps := []func() error{
		func() error { return c.Create(ctx, config) },
		func() error { return c.Get(ctx, key, &corev1.ConfigMap{}) },
		func() error { return c.List(ctx, &corev1.ConfigMapList{}, client.InNamespace(namespace)) },
		func() error { return c.Update(ctx, config) },
		func() error { return c.Update(ctx, config, client.DryRunAll) },
		func() error { return c.Patch(ctx, config, client.MergeFrom(config.DeepCopy())) },
		func() error {
			return c.Apply(ctx, applycorev1.ConfigMap("settings", namespace).WithData(map[string]string{"a": "b"}),
				client.FieldOwner("kit"), client.ForceOwnership)
		},
		func() error { return c.Delete(ctx, config, client.DryRunAll) },
		func() error { return c.Delete(ctx, config) },
		func() error { return c.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(namespace)) },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}

	want := map[reconciletest.Request]int{
		{Verb: "create", Resource: "configmaps"}:               1,
		{Verb: "get", Resource: "configmaps"}:                  1,
		{Verb: "list", Resource: "configmaps"}:                 1,
		{Verb: "update", Resource: "configmaps"}:               1,
		{Verb: "update", Resource: "configmaps", DryRun: true}: 1,
		{Verb: "patch", Resource: "configmaps"}:                1,
		{Verb: "apply", Resource: "configmaps"}:                1,
		{Verb: "delete", Resource: "configmaps", DryRun: true}: 1,
		{Verb: "delete", Resource: "configmaps"}:               1,
		{Verb: "deletecollection", Resource: "configmaps"}:     1,
	}

	sent := requests.Snapshot().WithoutInformers()
	if diff := cmp.Diff(want, sent.Counts()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}

	if got := len(sent.Writes()); got != 6 {
		t.Errorf("want 6 writes, got %d:\n%s", got, sent.Writes())
	}

	applied := sent.Where(reconciletest.Verb("apply"))
	if len(applied) != 1 || applied[0].FieldManager != "kit" || applied[0].Name != "settings" {
		t.Errorf("the apply is not recorded as sent: %+v", applied)
	}

	requests.Reset()

	if sent := requests.Snapshot(); len(sent) != 0 {
		t.Errorf("after Reset want no requests, got:\n%s", sent)
	}
}

// TestInject proves for each kind of fault what the client sees and what the
// server has stored.
func TestInject(t *testing.T) {
	t.Parallel()

	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	broken := errors.New("cable cut")

	cases := map[string]struct {
		reason string
		fault  reconciletest.Fault
		check  func(error) bool
		stored bool
	}{
		"conflict before": {
			reason: "an API error arrives as the server's answer",
			fault:  reconciletest.Fault{Err: apierrors.NewConflict(deployments, "web", errors.New("changed"))},
			check:  apierrors.IsConflict,
		},
		"throttled": {
			reason: "what the server says about waiting is kept",
			fault:  reconciletest.Fault{Err: apierrors.NewServerTimeout(deployments, "create", 0)},
			check:  apierrors.IsServerTimeout,
		},
		"connection before": {
			reason: "any other error is one of the connection",
			fault:  reconciletest.Fault{Err: broken},
			check:  func(err error) bool { return errors.Is(err, broken) },
		},
		"answer lost": {
			reason: "the write is stored though the client sees a failure",
			fault:  reconciletest.Fault{Committed: true},
			check:  func(err error) bool { return err != nil && !apierrors.IsAlreadyExists(err) },
			stored: true,
		},
		"timeout after commit": {
			reason: "an API error may come after the commit too",
			fault:  reconciletest.Fault{Err: apierrors.NewTimeoutError("late", 0), Committed: true},
			check:  apierrors.IsTimeout,
			stored: true,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var requests reconciletest.Requests

			namespace := env.Namespace(t)

			c, err := client.New(requests.Observe(env.Config()), client.Options{})
			if err != nil {
				t.Fatal(err)
			}

			requests.Inject(func(request reconciletest.Request) *reconciletest.Fault {
				if request.Verb == "create" && request.Resource == "deployments" {
					return &tc.fault
				}

				return nil
			})

			err = c.Create(t.Context(), deployment(namespace))
			if !tc.check(err) {
				t.Errorf("%s, got %v", tc.reason, err)
			}

			requests.Inject(nil)

			err = env.Client().Get(t.Context(), client.ObjectKeyFromObject(deployment(namespace)), &appsv1.Deployment{})
			if stored := err == nil; stored != tc.stored {
				t.Errorf("%s: stored = %t, want %t (%v)", tc.reason, stored, tc.stored, err)
			}

			creates := requests.Snapshot().Where(reconciletest.Verb("create"), reconciletest.Resource("apps", "deployments"))
			if len(creates) != 1 {
				t.Errorf("want the failed request counted once, got:\n%s", creates)
			}
		})
	}
}

func deployment(namespace string) *appsv1.Deployment {
	labels := map[string]string{"app": "web"}

	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
			},
		},
	}
}
