package predictor_test

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/kserve/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/predictor"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/standin/memory"
)

var env = &environment.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{
	crdOf("../config/crd/serving.kserve.io_predictors.yaml"), crdOf("../config/foreign/serving.kserve.io_inferenceservices.yaml"),
}}

func crdOf(file string) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	text, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(text, crd)
	}
	if err != nil {
		panic(err) // no test is running yet
	}
	return crd
}

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(env.Main(m))
}

func TestPredictor(t *testing.T) {
	env.Require(t)
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(time.Minute)
	RunSpecs(t, "Predictor")
}

var _ = Describe("Predictor", func() {
	It("sends nothing in steady state, follows a load to its end, and deletes its model", func(ctx context.Context) {
		w := newInstallation(ctx)
		w.create(predictorOf("silent"))
		w.status("silent", map[string]any{"activeModelState": "Loading", "available": true})
		w.mesh.Finish("silent", mmesh.Model{State: mmesh.Loaded})
		w.status("silent", map[string]any{"activeModelState": "Loaded", "grpcEndpoint": "grpc://modelmesh-serving." + w.namespace + ":8033"})
		time.Sleep(3 * time.Second) // wait for the last poll
		_ = w.mesh.Calls()
		time.Sleep(4 * time.Second)
		Expect(w.mesh.Calls()).To(BeZero())

		w.mesh.Put("other", "isvc")
		w.create(predictorOf("other"))
		w.status("other", map[string]any{"lastFailureInfo": map[string]any{
			"reason": "InvalidPredictorSpec", "message": "Predictor already exists with the same name from a different source",
		}})
		w.mesh.Away(status.Error(codes.Unavailable, "overloaded"))
		w.delete("silent")
		w.delete("other")
		Consistently(w.mesh.VModels).WithTimeout(time.Second).Should(HaveKey("silent"))
		w.mesh.Away(nil)
		Eventually(w.mesh.VModels).Should(Equal(map[string]string{"other": "isvc"}))
		Eventually(func() bool { return apierrors.IsNotFound(w.c.Get(ctx, w.key("silent"), &v1alpha1.Predictor{})) }).Should(BeTrue())
	})
})

// installation has a namespace, the operator and a ModelMesh.
type installation struct {
	ctx       context.Context
	c         client.Client
	mesh      *memory.Mesh
	namespace string
}

func newInstallation(ctx context.Context) *installation {
	GinkgoHelper()
	scheme := runtime.NewScheme()
	Expect(errors.Join(clientscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), v1beta1.AddToScheme(scheme))).To(Succeed())
	c, err := client.New(env.Config(), client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	w := &installation{ctx: ctx, c: c, mesh: &memory.Mesh{}, namespace: env.Namespace(GinkgoTB())}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	served := mmesh.NewServer(w.mesh)
	go func() { _ = served.Serve(listener) }()
	DeferCleanup(served.Stop)
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(conn.Close)
	mgr, err := manager.New(env.Config(), manager.Options{
		Scheme: scheme, Logger: logr.Discard(), Metrics: server.Options{BindAddress: "0"},
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{w.namespace: {}}},
	})
	Expect(err).NotTo(HaveOccurred())
	call := func(ctx context.Context, _ string, call func(context.Context, mmesh.Client) error) error {
		return call(ctx, mmesh.Client{Conn: conn})
	}
	settings := func(reconcile.Request) predictor.Settings {
		return predictor.Settings{Service: "modelmesh-serving", Port: 8033, RESTPort: 8008}
	}
	mesh := predictor.Mesh{Call: call}
	options := controller.Options{SkipNameValidation: true, ClaimNamespace: w.namespace}
	Expect(predictor.New(mesh, settings).Options(options).Build().SetupWithManager(mgr)).To(Succeed())
	Expect(predictor.NewServices(mesh, settings).Options(options).Build().SetupWithManager(mgr)).To(Succeed())
	running, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(running) }()
	DeferCleanup(func() {
		stop()
		Eventually(done).Should(Receive(BeNil()))
	})
	return w
}

func predictorOf(name string) map[string]any {
	return map[string]any{
		"apiVersion": "serving.kserve.io/v1alpha1", "kind": "Predictor", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"modelType": map[string]any{"name": "sklearn"}},
	}
}

func (w *installation) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: w.namespace, Name: name}
}

func (w *installation) create(content map[string]any) {
	GinkgoHelper()
	o := &unstructured.Unstructured{Object: content}
	o.SetNamespace(w.namespace)
	Expect(w.c.Create(w.ctx, o)).To(Succeed())
}

func (w *installation) delete(name string) {
	GinkgoHelper()
	Expect(w.c.Delete(w.ctx, &v1alpha1.Predictor{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}})).To(Succeed())
}

// status waits until the status of a Predictor matches.
func (w *installation) status(name string, want map[string]any) {
	GinkgoHelper()
	w.statusOf(&unstructured.Unstructured{Object: predictorOf(name)}, want)
}

// statusOf waits until the status of the named object matches.
func (w *installation) statusOf(named *unstructured.Unstructured, want map[string]any) {
	GinkgoHelper()
	Eventually(func() []string {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(named.GroupVersionKind())
		if err := w.c.Get(w.ctx, w.key(named.GetName()), o); err != nil {
			return []string{err.Error()}
		}
		return differences("status", want, o.Object["status"])
	}).Should(BeEmpty())
}
