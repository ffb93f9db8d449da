package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/operator"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

// cluster is the API server of TestRights, with the CRDs of all other projects installed.
type cluster struct {
	*testing.T
	env *environment.Environment
	c   client.Client
}

// startCluster starts the API server.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := models.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	gateway, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	standard := filepath.Join(strings.TrimSpace(string(gateway)), "config/crd/standard")
	env := &environment.Environment{
		Scheme: scheme, Audit: true, AdmissionPlugins: []string{"OwnerReferencesPermissionEnforcement"},
		CRDPaths: []string{
			"config/crd", "config/foreign",
			filepath.Join(standard, "gateway.networking.k8s.io_httproutes.yaml"), filepath.Join(standard, "gateway.networking.k8s.io_gateways.yaml"),
		},
		CRDs: []*apiextensionsv1.CustomResourceDefinition{
			definition("perses.dev", "v1alpha1", "PersesDashboard"), definition("perses.dev", "v1alpha1", "PersesDatasource"),
			definition("operator.authorino.kuadrant.io", "v1beta1", "Authorino"),
		},
	}
	env.Setup(t)
	cl := &cluster{T: t, env: env, c: env.Client()}
	for _, name := range []string{"llm", "openshift-ingress", app, "openshift-monitoring"} {
		cl.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return cl
}

// definition returns a CRD for a kind that accepts any content.
func definition(group, version, kind string) *apiextensionsv1.CustomResourceDefinition {
	singular := strings.ToLower(kind)
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: singular + "s." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, ListKind: kind + "List", Singular: singular, Plural: singular + "s"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: new(true),
				}},
			}},
		},
	}
}

// run runs the operator as main does, until stop is called or the test ends.
func (cl *cluster) run(config *rest.Config) (stop func()) {
	cl.Helper()
	o := maas()
	o.Config = config
	args := []string{
		"-metrics-bind-address=0", "-health-probe-bind-address=0", "-leader-elect", "-leader-election-namespace=" + app,
		"-maas-api-namespace=" + app, "-maas-subscription-namespace=" + home, "-subscription-namespace-maintain-interval=1s",
	}
	configure := o.Configure
	o.Configure = func(o *operator.Operator, scheme *runtime.Scheme) error {
		err := configure(o, scheme)
		narrow := o.Manager
		o.Manager = func(options *ctrl.Options) {
			narrow(options)
			options.Controller.SkipNameValidation = new(true) // the operator runs twice in this process
		}
		return err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(cl.Context()))
	done := make(chan error, 1)
	go func() { done <- o.Run(ctx, args, io.Discard, io.Discard) }()
	var stopped bool
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			cl.Errorf("the operator returned %v", err)
		}
	}
	cl.Cleanup(stop)
	return stop
}

func object(cl *cluster, text string) *unstructured.Unstructured {
	cl.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		cl.Fatal(err)
	}
	return u
}

func (cl *cluster) apply(texts ...string) {
	cl.Helper()
	for _, text := range texts {
		u := object(cl, text)
		cl.eventually("the namespace of "+u.GetName(), func() bool {
			err := cl.c.Patch(cl.Context(), u.DeepCopy(), client.Apply, client.FieldOwner("test"), client.ForceOwnership) //nolint:staticcheck // of any kind
			return err == nil
		})
	}
}

func (cl *cluster) remove(texts ...string) {
	cl.Helper()
	for _, text := range texts {
		if err := cl.c.Delete(cl.Context(), object(cl, text)); err != nil {
			cl.Fatal(err)
		}
	}
}

func (cl *cluster) create(object client.Object) {
	cl.Helper()
	if err := cl.c.Create(cl.Context(), object); err != nil {
		cl.Fatal(err)
	}
}

func (cl *cluster) patch(object client.Object, patch string) {
	cl.Helper()
	if err := cl.c.Patch(cl.Context(), object, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		cl.Fatal(err)
	}
}

func (cl *cluster) found(object client.Object) bool {
	return cl.c.Get(cl.Context(), client.ObjectKeyFromObject(object), object) == nil
}

func (cl *cluster) gone(object client.Object) {
	cl.Helper()
	cl.eventually("no more "+object.GetName(), func() bool {
		return apierrors.IsNotFound(cl.c.Get(cl.Context(), client.ObjectKeyFromObject(object), object))
	})
}

// eventually waits until holds returns true.
func (cl *cluster) eventually(what string, holds func() bool) {
	cl.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			cl.Fatalf("waited %s for %s", patience, what)
		}
	}
}

// urge waits like eventually, for a result that was refused before. It touches the owner, because the backoff of the
// operator may be long.
func (cl *cluster) urge(owner client.Object, what string, holds func() bool) {
	cl.Helper()
	looks := 0
	cl.eventually(what, func() bool {
		done := holds()
		if looks++; !done && looks%20 == 0 {
			cl.patch(owner, fmt.Sprintf(`{"metadata":{"annotations":{"look":"%d"}}}`, looks))
		}
		return done
	})
}
