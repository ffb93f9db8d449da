package operator_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	sdk "github.com/reconcilekit/reconcilekit/reconcile/operator"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/examples/internal/kstatus"
	maasv1alpha1 "github.com/reconcilekit/reconcilekit/examples/maas/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
	"github.com/reconcilekit/reconcilekit/examples/maas/operator"
)

const (
	patience = time.Minute
	moment   = time.Second
)

// The suite has one API server, and the operator runs as a separate process.
var (
	scheme  = runtime.NewScheme()
	env     = &environment.Environment{Scheme: scheme}
	counted requests.Requests
	shipped process
	c       client.Client
	config  = models.Config{
		Gateway:      types.NamespacedName{Namespace: "openshift-ingress", Name: "maas-default-gateway"},
		AppNamespace: "opendatahub", SubscriptionNamespace: "models-as-a-service", MetadataTTL: 60, AuthzTTL: 300,
	}
)

func TestOperator(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "MaaS")
}

var _ = BeforeSuite(func() {
	ctrl.SetLogger(logr.Discard())
	Expect(models.AddToScheme(scheme)).To(Succeed())
	gateway, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api").Output()
	Expect(err).NotTo(HaveOccurred())
	standard := filepath.Join(strings.TrimSpace(string(gateway)), "config/crd/standard")
	env.CRDPaths = []string{
		"../config/crd", "../config/foreign",
		filepath.Join(standard, "gateway.networking.k8s.io_httproutes.yaml"), filepath.Join(standard, "gateway.networking.k8s.io_gateways.yaml"),
	}
	env.Setup(GinkgoTB())
	c = env.Client()
	ctx := context.Background()
	for _, name := range []string{"llm", "llm2", "models-as-a-service", "openshift-ingress", "opendatahub"} {
		Expect(c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	}
	hostname := gatewayv1.Hostname("maas.example.com")
	Expect(c.Create(ctx, &gatewayv1.Gateway{
		ObjectMeta: metav1.ObjectMeta{Namespace: config.Gateway.Namespace, Name: config.Gateway.Name},
		Spec: gatewayv1.GatewaySpec{GatewayClassName: "x", Listeners: []gatewayv1.Listener{
			{Name: "http", Port: 80, Protocol: gatewayv1.HTTPProtocolType, Hostname: &hostname},
		}},
	})).To(Succeed())
	shipped.build()
	shipped.start()
})

var _ = AfterSuite(func() { shipped.stop() })

var _ = AfterEach(func(ctx context.Context) {
	var kinds []schema.GroupVersionKind
	for _, kind := range []string{"ExternalModel", "MaaSAuthPolicy", "MaaSModelRef", "MaaSSubscription", "Tenant"} {
		kinds = append(kinds, maasv1alpha1.GroupVersion.WithKind(kind))
	}
	Eventually(func() error { return kstatus.Check(ctx, c, kinds...) }).WithTimeout(patience).Should(Succeed())
})

// startOperator runs the operator in this process, where the test can count its requests, until the spec ends.
func startOperator(rc *rest.Config) {
	GinkgoHelper()
	var maas sdk.Operator
	Expect(operator.Configure(&maas, config, moment, operator.Catalog{})).To(Succeed())
	skip := true
	options := manager.Options{Scheme: scheme, Metrics: server.Options{BindAddress: "0"}}
	var err error
	options.Cache, err = controller.CacheOptions(scheme, maas.Controllers...)
	Expect(err).NotTo(HaveOccurred())
	maas.Manager(&options)
	options.Controller.SkipNameValidation = &skip // several operators run in this process, one after the other
	mgr, err := ctrl.NewManager(rc, options)
	Expect(err).NotTo(HaveOccurred())
	for _, c := range maas.Controllers {
		Expect(c.SetupWithManager(mgr)).To(Succeed())
	}
	Expect(maas.Setup(mgr)).To(Succeed())
	running, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(running) }()
	Expect(mgr.GetCache().WaitForCacheSync(running)).To(BeTrue())
	DeferCleanup(func() {
		cancel()
		Eventually(done).WithTimeout(patience).Should(Receive(BeNil()))
	})
}

// clean deletes the objects of a scenario, owners first.
func clean(ctx context.Context) {
	GinkgoHelper()
	cleanPlatform(ctx)
	own := func(kind string) schema.GroupVersionKind {
		return schema.GroupVersionKind{Group: "maas.opendatahub.io", Version: "v1alpha1", Kind: kind}
	}
	for _, gvk := range []schema.GroupVersionKind{
		own("MaaSSubscription"), own("MaaSAuthPolicy"), own("MaaSModelRef"), own("ExternalModel"),
		gatewayv1.SchemeGroupVersion.WithKind("HTTPRoute"), models.AuthPolicy, models.TokenRateLimitPolicy,
		models.ServiceEntry, models.DestinationRule, models.LLMInferenceService,
	} {
		list := models.List(gvk)
		Expect(c.List(ctx, list)).To(Succeed())
		for i := range list.Items {
			remove(ctx, &list.Items[i])
		}
		Eventually(func() []unstructured.Unstructured {
			Expect(c.List(ctx, list)).To(Succeed())
			return list.Items
		}).WithTimeout(patience).WithPolling(20*time.Millisecond).Should(BeEmpty(), gvk.String)
	}
	services := &corev1.ServiceList{}
	Expect(c.List(ctx, services, client.InNamespace("llm"))).To(Succeed())
	for i := range services.Items {
		Expect(client.IgnoreNotFound(c.Delete(ctx, &services.Items[i]))).To(Succeed())
	}
}

// cleanPlatform makes the operator recreate the tenant. Without a database it installs no platform. The objects that an
// unmanaged tenant kept are deleted.
func cleanPlatform(ctx context.Context) {
	GinkgoHelper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: config.AppNamespace, Name: "maas-db-config"}}
	unused := apierrors.IsNotFound(c.Delete(ctx, secret))
	tenant := &maasv1alpha1.Tenant{}
	key := types.NamespacedName{Namespace: config.SubscriptionNamespace, Name: maasv1alpha1.TenantName}
	if err := c.Get(ctx, key, tenant); err == nil {
		if unused && tenant.Generation == 1 && tenant.Annotations["component.opendatahub.io/management-state"] == "" {
			return // no scenario has touched it
		}
		Expect(client.IgnoreNotFound(c.Delete(ctx, tenant))).To(Succeed())
	}
	kinds := []string{
		"v1 ServiceAccount", "v1 ConfigMap", "v1 Service", "apps/v1 Deployment", "batch/v1 CronJob", "networking.k8s.io/v1 NetworkPolicy",
		"gateway.networking.k8s.io/v1 HTTPRoute", "rbac.authorization.k8s.io/v1 ClusterRole", "rbac.authorization.k8s.io/v1 ClusterRoleBinding",
		"kuadrant.io/v1 AuthPolicy", "kuadrant.io/v1alpha1 TokenRateLimitPolicy", "networking.istio.io/v1 DestinationRule",
		"networking.istio.io/v1alpha3 EnvoyFilter", "telemetry.istio.io/v1 Telemetry", "extensions.kuadrant.io/v1alpha1 TelemetryPolicy",
	}
	Eventually(func(g Gomega) {
		for _, kind := range kinds {
			version, name, _ := strings.Cut(kind, " ")
			list := models.List(schema.FromAPIVersionAndKind(version, name))
			g.Expect(c.List(ctx, list, client.MatchingLabels{"app.opendatahub.io/modelsasservice": "true"})).To(Succeed())
			for i := range list.Items {
				remove(ctx, &list.Items[i])
			}
			g.Expect(list.Items).To(BeEmpty(), kind)
		}
		recreated := &maasv1alpha1.Tenant{}
		g.Expect(c.Get(ctx, key, recreated)).To(Succeed())
		g.Expect(recreated.UID).NotTo(Equal(tenant.UID))
		g.Expect(string(recreated.Status.Phase)).To(Equal("Failed"), "it has no database")
	}).WithTimeout(patience).WithPolling(50 * time.Millisecond).Should(Succeed())
}

// remove deletes an object and removes the finalizer that a scenario added.
func remove(ctx context.Context, object *unstructured.Unstructured) {
	GinkgoHelper()
	for i, finalizer := range object.GetFinalizers() {
		if finalizer == "example.io/hold" {
			patch := client.RawPatch(types.JSONPatchType, []byte(`[{"op":"remove","path":"/metadata/finalizers/`+string(rune('0'+i))+`"}]`))
			Expect(client.IgnoreNotFound(c.Patch(ctx, object, patch))).To(Succeed())
		}
	}
	Expect(client.IgnoreNotFound(c.Delete(ctx, object))).To(Succeed())
}
