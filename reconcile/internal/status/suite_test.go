package status_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/status"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// manager is the field manager of the tested writer.
const manager = "status-test"

var env *environment.Environment

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
	env = &environment.Environment{
		Scheme: scheme, CRDs: []*apiextensionsv1.CustomResourceDefinition{widget.CRD(), keyedCRD(), atomicCRD(), plainCRD(), bareCRD()},
	}
	Expect(env.Start()).To(Succeed())
	DeferCleanup(env.Stop)
})

// variant returns a copy of the widget's CRD for another kind, with more status fields.
func variant(kind, plural string, change func(status map[string]apiextensionsv1.JSONSchemaProps)) *apiextensionsv1.CustomResourceDefinition {
	crd := widget.CRD()
	crd.Name = plural + "." + crd.Spec.Group
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, ListKind: kind + "List", Plural: plural, Singular: strings.ToLower(kind)}
	status := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"].Properties
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	status["message"] = text
	status["nested"] = apiextensionsv1.JSONSchemaProps{
		Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &text},
	}
	change(status)
	return crd
}

// keyedCRD has conditions as a map list with the key type.
func keyedCRD() *apiextensionsv1.CustomResourceDefinition {
	return variant("Keyed", "keyeds", func(map[string]apiextensionsv1.JSONSchemaProps) {})
}

// atomicCRD has conditions as an atomic list.
func atomicCRD() *apiextensionsv1.CustomResourceDefinition {
	return variant("Atomic", "atomics", func(status map[string]apiextensionsv1.JSONSchemaProps) {
		conditions := status["conditions"]
		conditions.XListType, conditions.XListMapKeys = nil, nil
		status["conditions"] = conditions
	})
}

// plainCRD has no conditions.
func plainCRD() *apiextensionsv1.CustomResourceDefinition {
	return variant("Plain", "plains", func(status map[string]apiextensionsv1.JSONSchemaProps) { delete(status, "conditions") })
}

// bareCRD has no status subresource.
func bareCRD() *apiextensionsv1.CustomResourceDefinition {
	crd := variant("Bare", "bares", func(map[string]apiextensionsv1.JSONSchemaProps) {})
	crd.Spec.Versions[0].Subresources = nil
	return crd
}

// world is a namespace with one widget, and a writer whose requests are counted.
type world struct {
	ctx       context.Context
	namespace string
	owner     *widget.Widget
	admin     client.Client // not counted
	requests  *requests.Requests
	client    client.Client // counted, not cached
	writer    *status.Writer
	clock     *testingclock.FakePassiveClock
}

func newWorld(options ...func(*status.Options)) *world {
	GinkgoHelper()
	w := &world{clock: testingclock.NewFakePassiveClock(time.Now()), ctx: context.Background(), namespace: env.Namespace(GinkgoTB()), admin: env.Client(), requests: &requests.Requests{}}
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
	o := status.Options{FieldManager: manager, Clock: w.clock}
	for _, change := range options {
		change(&o)
	}
	writer, err := status.New(w.client, w.client, o)
	Expect(err).NotTo(HaveOccurred())
	return writer
}

// stored returns the widget from the API server.
func (w *world) stored() *widget.Widget {
	GinkgoHelper()
	o := &widget.Widget{}
	Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(w.owner), o)).To(Succeed())
	return o
}

// sent returns the number of writes since the previous call.
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
