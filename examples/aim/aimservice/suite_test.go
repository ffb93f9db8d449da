package aimservice_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/reconcilekit/reconcilekit/examples/aim/aimservice"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/internal/kstatus"
)

// The suite has one API server and one operator; each test has its own namespace.
var (
	scheme  = runtime.NewScheme()
	env     = &environment.Environment{Scheme: scheme}
	counted requests.Requests
	c       client.Client
	seen    client.Reader // reads the cache of the operator
	ctx     = context.Background()
)

func TestAIMService(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "AIMService")
}

var _ = BeforeSuite(func() {
	ctrl.SetLogger(zap.New(zap.WriteTo(GinkgoWriter), zap.UseDevMode(true)))
	Expect(aimservice.AddToScheme(scheme)).To(Succeed())
	env.CRDPaths = crdPaths(GinkgoTB())
	env.Setup(GinkgoTB())
	c = env.Client()
	SetDefaultEventuallyTimeout(time.Minute)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	SetDefaultConsistentlyDuration(time.Second)
	var stop func()
	seen, stop = startOperator(counted.Observe(env.Config()))
	DeferCleanup(stop)
})

var _ = AfterEach(func() {
	kind := aimv1alpha1.GroupVersion.WithKind("AIMService")
	Eventually(func() error { return kstatus.Check(ctx, c, kind) }).Should(Succeed())
})

// crdPaths returns the folders with the CRDs of all kinds.
func crdPaths(t testing.TB) []string {
	t.Helper()
	gateway, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	return []string{
		"../config/crd", "../config/kserve",
		filepath.Join(strings.TrimSpace(string(gateway)), "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml"),
	}
}

// startOperator runs the operator in this process. It returns the client of the operator's cache, and a function that
// stops the operator.
func startOperator(config *rest.Config) (known client.Reader, stop func()) {
	GinkgoHelper()
	services := aimservice.New()
	cache, err := controller.CacheOptions(scheme, services)
	Expect(err).NotTo(HaveOccurred())
	skip := true
	options := manager.Options{Scheme: scheme, Cache: cache, Metrics: server.Options{BindAddress: "0"}}
	options.Controller.SkipNameValidation = &skip // several operators run in this process, one after the other
	mgr, err := ctrl.NewManager(config, options)
	Expect(err).NotTo(HaveOccurred())
	Expect(services.SetupWithManager(mgr)).To(Succeed())
	running, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- mgr.Start(running) }()
	Expect(mgr.GetCache().WaitForCacheSync(running)).To(BeTrue())
	return mgr.GetCache(), func() {
		cancel()
		Expect(<-done).To(Succeed())
	}
}

// create creates objects with their status. Objects created before a service are in the operator's cache when it
// reconciles the service.
func create(objects ...client.Object) {
	GinkgoHelper()
	for _, object := range objects {
		wanted := object.DeepCopyObject().(client.Object)
		Expect(c.Create(ctx, object)).To(Succeed(), "%T %s", object, object.GetName())
		if _, ours := wanted.(*aimv1alpha1.AIMService); !ours { // the operator writes its status
			setStatus(wanted)
		}
	}
}

// setStatus writes the status of an existing object.
func setStatus(object client.Object) {
	GinkgoHelper()
	stored := object.DeepCopyObject().(client.Object)
	Expect(c.Get(ctx, client.ObjectKeyFromObject(object), stored)).To(Succeed())
	wanted := object.DeepCopyObject().(client.Object)
	wanted.SetResourceVersion(stored.GetResourceVersion())
	wanted.SetUID(stored.GetUID())
	Expect(c.Status().Update(ctx, wanted)).To(Succeed())
	Eventually(func(g Gomega) {
		g.Expect(seen.Get(ctx, client.ObjectKeyFromObject(wanted), stored)).To(Succeed())
		age, err := resourceversion.CompareResourceVersion(stored.GetResourceVersion(), wanted.GetResourceVersion())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(age).To(BeNumerically(">=", 0), "the operator has not observed it yet")
	}).Should(Succeed())
}

// read reads the object from the API server.
func read[T client.Object](object T) T {
	GinkgoHelper()
	Expect(c.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
	return object
}

// condition returns a function that formats a condition of a service: "False TemplateNotFound".
func condition(service *aimv1alpha1.AIMService, conditionType string) func(g Gomega) string {
	return func(g Gomega) string {
		g.Expect(c.Get(ctx, client.ObjectKeyFromObject(service), service)).To(Succeed())
		found := meta.FindStatusCondition(service.Status.Conditions, conditionType)
		if found == nil {
			return "none"
		}
		return fmt.Sprintf("%s %s: %s", found.Status, found.Reason, found.Message)
	}
}

// state returns a function that reads the status of a service, such as Running.
func state(service *aimv1alpha1.AIMService) func(g Gomega) string {
	return func(g Gomega) string {
		g.Expect(c.Get(ctx, client.ObjectKeyFromObject(service), service)).To(Succeed())
		return string(service.Status.Status)
	}
}

// running waits until a service is Running.
func running(service *aimv1alpha1.AIMService) {
	GinkgoHelper()
	Eventually(state(service)).Should(Equal("Running"), func() string { return describe(service) })
}

// describe formats the conditions of a service.
func describe(service *aimv1alpha1.AIMService) string {
	var out strings.Builder
	for _, condition := range service.Status.Conditions {
		fmt.Fprintf(&out, "%s=%s %s: %s\n", condition.Type, condition.Status, condition.Reason, condition.Message)
	}
	return out.String()
}

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

// namespace creates a namespace for a test. It deletes the services at the end of the test, so that they do not affect
// the next one.
func namespace() string {
	GinkgoHelper()
	created := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "aim-"}} // short, because KServe limits the length of host names
	Expect(c.Create(ctx, created)).To(Succeed())
	DeferCleanup(func() {
		Expect(c.DeleteAllOf(ctx, &aimv1alpha1.AIMService{}, client.InNamespace(created.Name))).To(Succeed())
		Eventually(func(g Gomega) {
			left := &aimv1alpha1.AIMServiceList{}
			g.Expect(c.List(ctx, left, client.InNamespace(created.Name))).To(Succeed())
			g.Expect(left.Items).To(BeEmpty())
		}).Should(Succeed())
	})
	return created.Name
}

// readyModel returns a ready model of the namespace.
func readyModel(namespace, name string) *aimv1alpha1.AIMModel {
	return &aimv1alpha1.AIMModel{
		ObjectMeta: named(namespace, name),
		Spec:       aimv1alpha1.AIMModelSpec{Image: "ghcr.io/acme/" + namespace + "/" + name + ":1.0"},
		Status:     aimv1alpha1.AIMModelStatus{Status: aimv1alpha1.AIMStatusReady},
	}
}

// readyTemplate returns a ready and optimized template of the namespace.
func readyTemplate(namespace, name, model string) *aimv1alpha1.AIMServiceTemplate {
	return &aimv1alpha1.AIMServiceTemplate{
		ObjectMeta: named(namespace, name),
		Spec:       aimv1alpha1.AIMServiceTemplateSpec{AIMServiceTemplateSpecCommon: aimv1alpha1.AIMServiceTemplateSpecCommon{ModelName: model}},
		Status: aimv1alpha1.AIMServiceTemplateStatus{
			Status: aimv1alpha1.AIMStatusReady,
			Profile: &aimv1alpha1.AIMProfile{Metadata: aimv1alpha1.AIMProfileMetadata{
				Type: aimv1alpha1.AIMProfileTypeOptimized, Metric: aimv1alpha1.AIMMetricLatency, Precision: "fp8",
			}},
		},
	}
}

// serviceOf returns a service that refers to a model by name.
func serviceOf(namespace, name, model string) *aimv1alpha1.AIMService {
	return &aimv1alpha1.AIMService{
		ObjectMeta: named(namespace, name),
		Spec:       aimv1alpha1.AIMServiceSpec{Model: aimv1alpha1.AIMServiceModel{Name: &model}},
	}
}

// podOf returns a pod of an InferenceService.
func podOf(namespace, name, isvc string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"serving.kserve.io/inferenceservice": isvc}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "kserve-container", Image: "x"}}},
	}
}
