package status_test

import (
	"context"
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/status"
)

// manager is the field manager of the writer that is tested.
const manager = "status-test"

var env *reconciletest.Environment

func TestStatus(t *testing.T) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("KUBEBUILDER_ASSETS is not set; run make assets")
		}
		t.Skip("KUBEBUILDER_ASSETS is not set; run make assets")
	}
	RegisterFailHandler(Fail)
	RunSpecs(t, "Status writer")
}

var _ = BeforeSuite(func() {
	log.SetLogger(GinkgoLogr)
	scheme := runtime.NewScheme()
	Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	Expect(widget.AddToScheme(scheme)).To(Succeed())
	env = &reconciletest.Environment{
		Scheme: scheme, CRDs: []*apiextensionsv1.CustomResourceDefinition{widget.CRD(), atomicCRD()},
	}
	Expect(env.Start()).To(Succeed())
	DeferCleanup(env.Stop)
})

// variant is the definition of a kind like the widget under another name.
func variant(kind, plural string) (crd *apiextensionsv1.CustomResourceDefinition, status *apiextensionsv1.JSONSchemaProps) {
	crd = widget.CRD()
	crd.Name = plural + "." + crd.Spec.Group
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, ListKind: kind + "List", Plural: plural}
	properties := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties
	found := properties["status"]
	return crd, &found
}

// atomicCRD has conditions as one value.
func atomicCRD() *apiextensionsv1.CustomResourceDefinition {
	crd, status := variant("Atomic", "atomics")
	conditions := status.Properties["conditions"]
	conditions.XListType, conditions.XListMapKeys = nil, nil
	status.Properties["conditions"] = conditions
	return crd
}

// world is a namespace with one widget, and a writer whose requests are counted.
type world struct {
	ctx       context.Context
	namespace string
	owner     *widget.Widget
	admin     client.Client // not counted
	requests  *reconciletest.Requests
	client    client.Client // counted, not cached
	writer    *status.Writer
}

func newWorld(options ...func(*status.Options)) *world {
	GinkgoHelper()
	w := &world{ctx: context.Background(), namespace: env.Namespace(GinkgoTB()), admin: env.Client(), requests: &reconciletest.Requests{}}
	w.owner = &widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: "owner", Namespace: w.namespace}}
	Expect(w.admin.Create(w.ctx, w.owner)).To(Succeed())
	var err error
	w.client, err = client.New(w.requests.Observe(env.Config()), client.Options{Scheme: env.Scheme})
	Expect(err).NotTo(HaveOccurred())
	w.writer = w.newWriter(manager, options...)
	return w
}

func (w *world) newWriter(manager string, options ...func(*status.Options)) *status.Writer {
	GinkgoHelper()
	o := status.Options{FieldManager: manager}
	for _, change := range options {
		change(&o)
	}
	writer, err := status.New(w.client, o)
	Expect(err).NotTo(HaveOccurred())
	return writer
}

// stored is the widget as the API server has it.
func (w *world) stored() *widget.Widget {
	GinkgoHelper()
	o := &widget.Widget{}
	Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(w.owner), o)).To(Succeed())
	return o
}

// sent are the writes since the last call.
func (w *world) sent() int {
	sent := len(w.requests.Snapshot().Writes())
	w.requests.Reset()
	return sent
}

func copyOf[T client.Object](o T) T {
	GinkgoHelper()
	copied, ok := o.DeepCopyObject().(T)
	Expect(ok).To(BeTrue())
	return copied
}
