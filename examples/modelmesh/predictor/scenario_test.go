package predictor_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"strings"
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
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/etcd"
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
		panic(err) // before there is a test
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

// scenario is a recorded case of the product. What one pass of another engine returns is left out.
type scenario struct {
	Name   string           `json:"name"`
	Given  []map[string]any `json:"given"`
	Mesh   *script          `json:"modelmesh"`
	Steps  []step           `json:"steps"`
	Expect expectation      `json:"expect"`
}

type step struct {
	Mesh  *script `json:"modelmesh"`
	Merge *struct {
		Ref   string         `json:"ref"`
		Patch map[string]any `json:"patch"`
	} `json:"merge"`
	Expect expectation `json:"expect"`
}

type expectation struct {
	Exist  []map[string]any `json:"exist"`
	Result struct {
		Calls []struct {
			Op      string         `json:"op"`
			Request map[string]any `json:"request"`
		} `json:"modelMeshCalls"`
	} `json:"result"`
}

// script is what ModelMesh answers.
type script struct {
	Set, Get *struct {
		Error       string     `json:"error"`
		Status      string     `json:"status"`
		Active      string     `json:"active"`
		Target      string     `json:"target"`
		ActiveModel *modelText `json:"activeModel"`
		TargetModel *modelText `json:"targetModel"`
	}
}

type modelText struct {
	Status string   `json:"status"`
	Errors []string `json:"errors"`
	Copies []struct {
		Location string `json:"location"`
		Status   string `json:"status"`
		TimeMS   uint64 `json:"timeMs"`
	} `json:"copies"`
}

// instead is what the operator does where the product errs, see the README.
func instead() map[string]map[string]any {
	return map[string]map[string]any{
		"target-waiting-for-runtime-still-reports-blocked": {"available": true, "transitionStatus": v1alpha1.InProgress},
		"all-runtime-pods-gone-leaves-available-true":      {"available": false},
		"standby-after-waiting-stays-unavailable":          {"available": true, "lastFailureInfo": map[string]any{"$absent": true}},
		"unknown-vmodel-state-produces-invalid-status":     {"transitionStatus": v1alpha1.UpToDate, "activeModelState": v1alpha1.Pending},
	}
}

var _ = Describe("Predictor", func() {
	var cases []scenario
	text, err := os.ReadFile("testdata/scenarios.json")
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	if err != nil {
		panic(err) // while the tree of tests is built
	}
	for _, s := range cases {
		It(s.Name, func(ctx context.Context) { newWorld(ctx).play(s) })
	}

	It("is silent at rest, follows a load to its end, and takes its model with it", func(ctx context.Context) {
		w := newWorld(ctx)
		w.create(predictorOf("silent"))
		w.status("silent", map[string]any{"activeModelState": "Loading", "available": true})
		w.mesh.Finish("silent", mmesh.Model{State: mmesh.Loaded})
		w.status("silent", map[string]any{"activeModelState": "Loaded", "grpcEndpoint": "grpc://modelmesh-serving." + w.namespace + ":8033"})
		time.Sleep(3 * time.Second) // the last poll
		_, _ = w.mesh.Requests()
		time.Sleep(4 * time.Second)
		sets, gets := w.mesh.Requests()
		Expect(sets).To(BeEmpty())
		Expect(gets).To(BeZero())

		w.mesh.Put("other", "isvc")
		w.create(predictorOf("other"))
		w.status("other", map[string]any{"lastFailureInfo": map[string]any{
			"reason": "InvalidPredictorSpec", "message": "Predictor already exists with the same name from a different source",
		}})
		w.mesh.Away(status.Error(codes.Unavailable, "connection refused"))
		w.delete("silent")
		w.delete("other")
		Consistently(w.mesh.VModels).WithTimeout(time.Second).Should(HaveKey("silent"))
		w.mesh.Away(nil)
		Eventually(w.mesh.VModels).Should(Equal(map[string]string{"other": "isvc"}))
		Eventually(func() bool { return apierrors.IsNotFound(w.c.Get(ctx, w.key("silent"), &v1alpha1.Predictor{})) }).Should(BeTrue())
	})
})

// world is a namespace with the operator, and a ModelMesh beside it.
type world struct {
	ctx       context.Context
	c         client.Client
	mesh      *memory.Mesh
	events    *etcd.Events       // of etcd; nil for none
	seen      []mmesh.SetRequest // by ModelMesh
	namespace string
}

func newWorld(ctx context.Context) *world {
	GinkgoHelper()
	scheme := runtime.NewScheme()
	Expect(errors.Join(clientscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), v1beta1.AddToScheme(scheme))).To(Succeed())
	c, err := client.New(env.Config(), client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	w := &world{ctx: ctx, c: c, mesh: &memory.Mesh{}, namespace: env.Namespace(GinkgoTB())}
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
	mesh := predictor.Mesh{Call: call, Events: w.events}
	options := controller.Options{SkipNameValidation: true}
	Expect(predictor.New(mesh, settings).Options(options).SetupWithManager(mgr)).To(Succeed())
	Expect(predictor.NewServices(mesh, settings).Options(options).SetupWithManager(mgr)).To(Succeed())
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

func (w *world) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: w.namespace, Name: name}
}

func (w *world) create(content map[string]any) {
	GinkgoHelper()
	o := &unstructured.Unstructured{Object: content}
	if o.GetKind() == "Namespace" {
		return
	}
	o.SetNamespace(w.namespace)
	status := o.Object["status"]
	Expect(w.c.Create(w.ctx, o)).To(Succeed())
	if status != nil {
		body, err := json.Marshal(map[string]any{"status": status})
		Expect(err).NotTo(HaveOccurred())
		Expect(w.c.Status().Patch(w.ctx, o, client.RawPatch("application/merge-patch+json", body), client.FieldOwner("kserve"))).To(Succeed())
	}
}

func (w *world) delete(name string) {
	GinkgoHelper()
	Expect(w.c.Delete(w.ctx, &v1alpha1.Predictor{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}})).To(Succeed())
}

// status waits until the status of a Predictor matches.
func (w *world) status(name string, want map[string]any) {
	GinkgoHelper()
	w.statusOf(&unstructured.Unstructured{Object: predictorOf(name)}, want)
}

// statusOf waits until the status of what the object names matches.
func (w *world) statusOf(named *unstructured.Unstructured, want map[string]any) {
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

func (w *world) play(s scenario) {
	GinkgoHelper()
	w.follow(s.Mesh)
	for _, o := range s.Given {
		w.create(o)
	}
	steps := s.Steps
	if len(steps) == 0 {
		steps = []step{{Expect: s.Expect}}
		if len(s.Expect.Exist) == 0 { // the product expects an error
			w.passed()
			w.status("a", instead()[s.Name])
			return
		}
	}
	for i, now := range steps {
		if now.Merge != nil {
			patch, err := json.Marshal(now.Merge.Patch)
			Expect(err).NotTo(HaveOccurred())
			parts := strings.Split(now.Merge.Ref, "|")
			w.follow(now.Mesh)
			Expect(w.c.Patch(w.ctx, &v1alpha1.Predictor{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: parts[3]}},
				client.RawPatch("application/merge-patch+json", patch))).To(Succeed())
		} else if i > 0 && now.Mesh != nil {
			w.follow(now.Mesh)
			Expect(w.nudge(s)).To(Succeed())
		}
		w.expect(s.Name, now.Expect)
		if len(now.Expect.Exist)+len(now.Expect.Result.Calls) == 0 {
			w.passed()
		}
	}
}

// passed waits until ModelMesh was asked, and the pass that did is over.
func (w *world) passed() {
	GinkgoHelper()
	Eventually(func() int {
		sets, _ := w.mesh.Requests()
		return len(sets)
	}).Should(BeNumerically(">", 0))
	time.Sleep(time.Second)
}

// nudge changes an annotation: the double tells nobody that it answers something else now.
func (w *world) nudge(s scenario) error {
	for _, o := range s.Given {
		if o["kind"] != "Namespace" {
			object := &unstructured.Unstructured{Object: o}
			patch := fmt.Sprintf(`{"metadata":{"annotations":{"at":%q}}}`, time.Now().Format(time.RFC3339Nano))
			if err := w.c.Patch(w.ctx, object.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow makes the double answer as the case says.
func (w *world) follow(s *script) {
	if s == nil {
		return
	}
	w.mesh.Away(nil)
	answer := s.Set
	if answer == nil {
		answer = s.Get
	}
	if answer.Error == "NoInstances" {
		w.mesh.Away(memory.NoInstances())
		return
	}
	w.mesh.Script(func(request *mmesh.SetRequest) *mmesh.VModel {
		id := func(text string) string { return strings.ReplaceAll(text, "$target", request.Target) }
		return &mmesh.VModel{
			State: vmodelStates()[answer.Status], Active: id(answer.Active), Target: id(answer.Target),
			ActiveModel: answer.ActiveModel.model(), TargetModel: answer.TargetModel.model(),
		}
	})
}

func vmodelStates() map[string]int {
	return map[string]int{
		"NOT_FOUND": mmesh.VModelNotFound, "DEFINED": mmesh.VModelDefined, "TRANSITIONING": mmesh.VModelTransitioning,
		"TRANSITION_FAILED": mmesh.VModelTransitionFailed, "UNKNOWN": mmesh.VModelUnknown,
	}
}

func modelStates() map[string]int {
	return map[string]int{
		"NOT_FOUND": mmesh.NotFound, "NOT_LOADED": mmesh.NotLoaded, "LOADING": mmesh.Loading, "LOADED": mmesh.Loaded,
		"LOADING_FAILED": mmesh.LoadingFailed, "UNKNOWN": mmesh.Unknown,
	}
}

func (m *modelText) model() *mmesh.Model {
	if m == nil {
		return nil
	}
	out := &mmesh.Model{State: modelStates()[m.Status], Errors: m.Errors}
	for _, c := range m.Copies {
		out.Copies = append(out.Copies, mmesh.Copy{Location: c.Location, State: modelStates()[c.Status], TimeMS: c.TimeMS})
	}
	return out
}

func (w *world) expect(name string, e expectation) {
	GinkgoHelper()
	for _, want := range e.Exist {
		o := &unstructured.Unstructured{Object: want}
		status, _ := want["status"].(map[string]any)
		maps.Copy(status, instead()[name])
		if text, err := json.Marshal(status); err == nil { // the namespace of the test is another one
			local := bytes.ReplaceAll(text, []byte("modelmesh-serving."+o.GetNamespace()), []byte("modelmesh-serving."+w.namespace))
			Expect(json.Unmarshal(local, &status)).To(Succeed())
		}
		w.statusOf(o, status)
	}
	for _, call := range e.Result.Calls {
		if call.Op == "SetVModel" && call.Request["modelInfo"] != nil {
			Eventually(w.requested).WithArguments(call.Request).Should(BeTrue(), "%v", call.Request)
		}
	}
}

// requested reports whether ModelMesh was asked for what a case expects.
func (w *world) requested(want map[string]any) bool {
	info, _ := want["modelInfo"].(map[string]any)
	sets, _ := w.mesh.Requests()
	w.seen = append(w.seen, sets...)
	for _, r := range w.seen {
		var key map[string]any
		if json.Unmarshal([]byte(r.Key), &key) != nil {
			continue
		}
		got := map[string]any{"type": r.Type, "key": key}
		if r.Path != "" {
			got["path"] = r.Path
		}
		if want["targetModelId"] != nil && r.Target != want["targetModelId"] || r.Owner != cmp.Or[any](want["owner"], "ksp") {
			continue
		}
		if len(differences("", info, got)) == 0 {
			return true
		}
	}
	return false
}
