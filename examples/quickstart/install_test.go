package main

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/reconcilekit/reconcilekit/examples/internal/process"
	v1 "github.com/reconcilekit/reconcilekit/examples/quickstart/api/v1"
)

// TestInstalled applies the manifests that kustomize builds from config/, runs the operator with the arguments and the
// service account of its Deployment, and scrapes its metrics as Prometheus does.
func TestInstalled(t *testing.T) {
	env.Require(t)
	ctx, c := t.Context(), env.Client()
	deployment := &appsv1.Deployment{}
	for _, object := range built(t, "config") {
		// Strict makes a misspelt field an error.
		if err := client.WithFieldValidation(c, "Strict").Apply(ctx, client.ApplyConfigurationFromUnstructured(object),
			client.FieldOwner("installer"), client.ForceOwnership); err != nil {
			t.Fatalf("apply %s %s: %v", object.GetKind(), object.GetName(), err)
		}
		if object.GetKind() == "Deployment" {
			if err := c.Get(ctx, client.ObjectKeyFromObject(object), deployment); err != nil {
				t.Fatal(err)
			}
		}
	}
	pod := deployment.Spec.Template.Spec
	config, err := env.ServiceAccountConfig(ctx, deployment.Namespace, pod.ServiceAccountName)
	if err != nil {
		t.Fatal(err)
	}
	metrics, logs := environment.FreeAddress(t), &process.Log{}
	o, again := website(), true
	o.Config = config
	o.Manager = func(options *ctrl.Options) {
		options.Controller.SkipNameValidation = &again
		options.Metrics.BindAddress, options.HealthProbeBindAddress = metrics, "0"
		options.LeaderElectionNamespace = deployment.Namespace // a Pod has it from its environment
	}
	running(t, func() error { return o.Run(ctx, pod.Containers[0].Args, io.Discard, logs) })

	site := &v1.Website{ObjectMeta: metav1.ObjectMeta{Namespace: env.Namespace(t), Name: "hello"}, Spec: v1.WebsiteSpec{Text: "hello"}}
	if err := c.Create(ctx, site); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return c.Get(ctx, client.ObjectKeyFromObject(site), &appsv1.Deployment{}) == nil })
	scraped(t, metrics, deployment.Namespace)
	if strings.Contains(strings.ToLower(logs.String()), "forbidden") {
		t.Errorf("a permission is missing:\n%s", logs)
	}
}

// built returns the objects that kustomize builds from a folder.
func built(t *testing.T, folder string) []*unstructured.Unstructured {
	t.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	for _, resource := range resources.Resources() {
		text, err := resource.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(text); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	return objects
}

// scraped requests the metrics without a token, with the token of an account that lacks the permission, and with that of
// one that has it.
func scraped(t *testing.T, address, namespace string) {
	t.Helper()
	token := func(config *rest.Config, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return config.BearerToken
	}
	mine := token(env.ServiceAccountConfig(t.Context(), namespace, "quickstart"))
	get := func(token string) int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+"/metrics", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		insecure := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		answer, err := insecure.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		return answer.StatusCode
	}
	for want, token := range map[int]string{http.StatusUnauthorized: "", http.StatusForbidden: mine} {
		if got := get(token); got != want {
			t.Errorf("metrics: status %d, want %d", got, want)
		}
	}
	if err := env.Client().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "prometheus"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "quickstart-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "quickstart"}},
	}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return get(mine) == http.StatusOK })
}

// running runs the operator until the test ends.
func running(t *testing.T, run func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- run() }()
	t.Cleanup(func() {
		if err := <-done; err != nil {
			t.Errorf("the operator returned %v", err)
		}
	})
}
