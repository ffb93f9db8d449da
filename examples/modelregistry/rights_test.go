package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/rights"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/openshift"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// TestRights checks that the operator, with both controllers and its webhooks, uses each of its generated permissions
// and needs no others.
func TestRights(t *testing.T) {
	w := newRightsWorld(t)
	stop := w.start(t)
	w.create(t, administrators(), platform(),
		&corev1.Secret{ObjectMeta: w.named("model-catalog-oauth-cookie-secret")}) // from an earlier version
	one, two := w.registry("one"), w.registry("two")
	w.create(t, one)
	w.complete(t, "one")
	w.gone(t, &corev1.Secret{ObjectMeta: w.named("model-catalog-oauth-cookie-secret")})

	// Permissions that the API server checks while it handles another request.
	w.Without(t, "update modelregistry.opendatahub.io/modelregistries/finalizers", func() { w.create(t, two) })
	w.touch(t, two)
	w.complete(t, "two")
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "one-auth-delegator"}}
	admin := &rbacv1.Role{ObjectMeta: w.named("model-catalog-admin")}
	for right, child := range map[string]client.Object{ // permissions that these Roles grant
		"get endpoints": &rbacv1.Role{ObjectMeta: w.named("registry-user-one")},
		"create authentication.k8s.io/tokenreviews":        binding,
		"create authorization.k8s.io/subjectaccessreviews": binding,
		"update configmaps":                                admin,
		"update secrets":                                   admin,
	} {
		w.Without(t, right, func() { w.delete(t, child) })
		w.touch(t, one)
		w.touch(t, administrators())
		w.exists(t, child)
	}

	stop() // children planned by an earlier version exist when the operator starts again
	var old []client.Object
	for _, child := range w.children(t, "one") {
		twin, err := rights.Outdated(child, child.GetName()+"-old", w.scheme)
		if err != nil {
			t.Fatal(err)
		}
		if err := rights.CreateOutdated(t.Context(), w, twin); err != nil {
			t.Fatal(err)
		}
		old = append(old, twin)
	}
	w.start(t)
	w.touch(t, one) // a volume is pruned only after a change of the spec
	w.gone(t, old...)
	w.delete(t, one)
	w.delete(t, two)
	w.gone(t, one, two)
	w.Check(t, map[string]string{
		"patch events.k8s.io/events": "for a repeated event, tested in the library",
	})
}

// rightsWorld has an API server and a service account for the operator with the generated permissions.
type rightsWorld struct {
	client.Client
	*environment.Rights
	env       *environment.Environment
	scheme    *runtime.Scheme
	namespace string
	webhooks  envtest.WebhookInstallOptions
	requests  requests.Requests
}

func newRightsWorld(t *testing.T) *rightsWorld {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	w := &rightsWorld{scheme: scheme, env: &environment.Environment{
		Scheme: scheme, CRDPaths: []string{"config/crd", "config/openshift", "config/platform"},
		Audit: true, AdmissionPlugins: []string{"OwnerReferencesPermissionEnforcement"},
	}}
	w.env.Setup(t)
	w.Client, w.namespace = w.env.Client(), w.env.Namespace(t)
	t.Setenv("REGISTRIES_NAMESPACE", w.namespace)
	t.Setenv("DEFAULT_DOMAIN", "apps.example.com")
	page, err := registries().Page()
	if err != nil {
		t.Fatal(err)
	}
	w.Rights = w.env.Rights(t, page.Rules())
	w.requests.Inject(rights.RefusedOnce())
	w.webhooks = envtest.WebhookInstallOptions{Paths: []string{"config/webhook"}}
	if err := w.webhooks.Install(w.env.Config()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.webhooks.Cleanup() })
	return w
}

func (w *rightsWorld) named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

// registry returns a registry that has every possible child.
func (w *rightsWorld) registry(name string) *v1beta1.ModelRegistry {
	return &v1beta1.ModelRegistry{ObjectMeta: w.named(name), Spec: v1beta1.ModelRegistrySpec{
		Rest:          v1beta1.RestSpec{ServiceRoute: v1beta1.RouteEnabled},
		Postgres:      &v1beta1.PostgresConfig{GenerateDeployment: new(true)},
		KubeRBACProxy: &v1beta1.ProxyConfig{},
	}}
}

// platform returns the object that owns the permanent objects of the catalog.
func platform() client.Object {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion("components.platform.opendatahub.io/v1alpha1")
	o.SetKind("ModelRegistry")
	o.SetName("default-modelregistry")
	return o
}

// children returns one child of each kind of a registry.
func (w *rightsWorld) children(t *testing.T, name string) []client.Object {
	t.Helper()
	children := []client.Object{
		&corev1.ServiceAccount{ObjectMeta: w.named(name)}, &corev1.Service{ObjectMeta: w.named(name)},
		&appsv1.Deployment{ObjectMeta: w.named(name)}, &corev1.ConfigMap{ObjectMeta: w.named(name + "-kube-rbac-proxy-config")},
		&corev1.PersistentVolumeClaim{ObjectMeta: w.named(name + "-postgres-storage")},
		&networkingv1.NetworkPolicy{ObjectMeta: w.named(name + "-https-route")},
		&rbacv1.Role{ObjectMeta: w.named("registry-user-" + name)}, &rbacv1.RoleBinding{ObjectMeta: w.named(name + "-users")},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name + "-auth-delegator"}},
		&openshift.Route{ObjectMeta: w.named(name + "-https")}, &openshift.Group{ObjectMeta: metav1.ObjectMeta{Name: name + "-users"}},
	}
	for _, child := range children {
		w.exists(t, child)
	}
	return children
}

// complete waits until a registry and the catalog have all children.
func (w *rightsWorld) complete(t *testing.T, name string) {
	t.Helper()
	w.children(t, name)
	for _, last := range []string{"model-catalog-postgres", "model-catalog-https-route"} {
		w.exists(t, &networkingv1.NetworkPolicy{ObjectMeta: w.named(last)})
	}
	w.exists(t, &rbacv1.RoleBinding{ObjectMeta: w.named("model-catalog-admin-binding")})
}

// start runs the operator with its permissions until the test ends or stop is called.
func (w *rightsWorld) start(t *testing.T) (stop func()) {
	t.Helper()
	o := registries()
	o.Config = w.requests.Observe(w.Config())
	o.Manager = func(options *ctrl.Options) { options.Controller.SkipNameValidation = new(true) } // two operators in one process
	args := []string{
		"-health-probe-bind-address=0", "-leader-elect", "-leader-election-namespace=" + w.namespace,
		fmt.Sprintf("-webhook-port=%d", w.webhooks.LocalServingPort), "-webhook-cert-dir=" + w.webhooks.LocalServingCertDir,
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- o.Run(ctx, args, io.Discard, io.Discard) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the operator returned %v", err)
		}
	})
	t.Cleanup(stop)
	w.eventually(t, func() error {
		connection, err := net.Dial("tcp", net.JoinHostPort(w.webhooks.LocalServingHost, strconv.Itoa(w.webhooks.LocalServingPort)))
		if err != nil {
			return err
		}
		return connection.Close()
	})
	return stop
}

func (*rightsWorld) eventually(t *testing.T, done func() error) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := done()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("timed out: ", err)
		}
	}
}

func (w *rightsWorld) create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		if err := w.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *rightsWorld) delete(t *testing.T, object client.Object) {
	t.Helper()
	if err := w.Delete(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// touch changes the spec of an object, so that the operator retries what was refused.
func (w *rightsWorld) touch(t *testing.T, object client.Object) {
	t.Helper()
	body := fmt.Appendf(nil, `{"metadata":{"annotations":{"touched":%q}},"spec":{"rest":{"port":%d},"adminGroups":[%q]}}`,
		time.Now(), 8081+time.Now().Unix()%1000, time.Now())
	if err := w.Patch(t.Context(), object, client.RawPatch("application/merge-patch+json", body)); err != nil {
		t.Fatal(err)
	}
}

func (w *rightsWorld) exists(t *testing.T, object client.Object) {
	t.Helper()
	w.eventually(t, func() error { return w.Get(t.Context(), client.ObjectKeyFromObject(object), object) })
}

// gone waits until objects are deleted. It accepts a PersistentVolumeClaim that only waits for a controller, which does
// not run here.
func (w *rightsWorld) gone(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		w.eventually(t, func() error {
			err := w.Get(t.Context(), client.ObjectKeyFromObject(object), object)
			_, isRegistry := object.(*v1beta1.ModelRegistry)
			switch {
			case apierrors.IsNotFound(err), err == nil && object.GetDeletionTimestamp() != nil && !isRegistry:
				return nil
			case err != nil:
				return err
			}
			return fmt.Errorf("%T %s still exists", object, object.GetName())
		})
	}
}
