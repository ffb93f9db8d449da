package main_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/internal/process"
)

var (
	ctx    = context.Background()
	binary string
)

func TestOperator(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(time.Minute)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	RunSpecs(t, "ModelRegistry operator")
}

var _ = BeforeSuite(func() {
	binary = filepath.Join(GinkgoT().TempDir(), "modelregistry")
	out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
})

// fixture has an API server with some optional kinds, and the operator in a separate process.
type fixture struct {
	env     *environment.Environment
	c       client.Client
	folder  string
	address string // address of the webhook server
	running config
	process *exec.Cmd
	log     *process.Log
}

// newFixture starts an API server with the kinds of the configuration.
func newFixture(capabilities config) *fixture {
	GinkgoHelper()
	scheme := runtime.NewScheme()
	Expect(clientscheme.AddToScheme(scheme)).To(Succeed())
	Expect(apiextensionsv1.AddToScheme(scheme)).To(Succeed())
	w := &fixture{env: &environment.Environment{Scheme: scheme, CRDPaths: crds(capabilities)}, folder: GinkgoT().TempDir()}
	w.env.Setup(GinkgoTB())
	w.c = w.env.Client()
	kubeconfig, err := environment.Kubeconfig(w.env.Config())
	Expect(err).NotTo(HaveOccurred())
	w.write("kubeconfig", kubeconfig)
	w.address = environment.FreeAddress(GinkgoTB())
	process.Certify(GinkgoTB(), w.folder)
	w.convert()
	return w
}

func crds(capabilities config) []string {
	paths := []string{"config/crd", "config/platform/components.platform.opendatahub.io_modelregistries.yaml"}
	if capabilities.OpenShift {
		paths = append(paths, "config/openshift/route.openshift.io_routes.yaml", "config/openshift/config.openshift.io_ingresses.yaml")
	}
	if capabilities.UserAPI {
		paths = append(paths, "config/openshift/user.openshift.io_groups.yaml")
	}
	if capabilities.AuthAPI {
		paths = append(paths, "config/platform/services.platform.opendatahub.io_auths.yaml")
	}
	return paths
}

func (w *fixture) write(name string, data []byte) {
	GinkgoHelper()
	Expect(os.WriteFile(filepath.Join(w.folder, name), data, 0o600)).To(Succeed())
}

func (w *fixture) url(path string) *string {
	url := "https://" + w.address + path
	return &url
}

func (w *fixture) authority() []byte {
	GinkgoHelper()
	data, err := os.ReadFile(filepath.Join(w.folder, "tls.crt"))
	Expect(err).NotTo(HaveOccurred())
	return data
}

// convert configures the API server to call the conversion webhook of the operator.
func (w *fixture) convert() {
	GinkgoHelper()
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "modelregistries.modelregistry.opendatahub.io"}}
	Expect(w.c.Get(ctx, client.ObjectKeyFromObject(crd), crd)).To(Succeed())
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: w.url("/convert"), CABundle: w.authority()},
			ConversionReviewVersions: []string{"v1"},
		},
	}
	Expect(w.c.Update(ctx, crd)).To(Succeed())
}

// admit creates or deletes the webhook configurations of the example.
func (w *fixture) admit(wanted bool) {
	GinkgoHelper()
	data, err := os.ReadFile("config/webhook/webhooks.yaml")
	Expect(err).NotTo(HaveOccurred())
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{}
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	Expect(decoder.Decode(mutating)).To(Succeed())
	Expect(decoder.Decode(validating)).To(Succeed())
	for _, existing := range []client.Object{mutating.DeepCopy(), validating.DeepCopy()} {
		Expect(client.IgnoreNotFound(w.c.Delete(ctx, existing))).To(Succeed())
	}
	if !wanted {
		return
	}
	reach := func(to *admissionregistrationv1.WebhookClientConfig) {
		*to = admissionregistrationv1.WebhookClientConfig{URL: w.url(*to.Service.Path), CABundle: w.authority()}
	}
	reach(&mutating.Webhooks[0].ClientConfig)
	reach(&validating.Webhooks[0].ClientConfig)
	Expect(w.c.Create(ctx, mutating)).To(Succeed())
	Expect(w.c.Create(ctx, validating)).To(Succeed())
}

// run starts the operator with the settings, unless it already runs with them.
func (w *fixture) run(settings config) {
	GinkgoHelper()
	if w.process != nil && w.running == settings {
		return
	}
	w.stop()
	w.admit(false)
	w.log = &process.Log{}
	probes := environment.FreeAddress(GinkgoTB())
	_, port, err := net.SplitHostPort(w.address)
	Expect(err).NotTo(HaveOccurred())
	w.process = exec.Command(binary, "--kubeconfig", filepath.Join(w.folder, "kubeconfig"),
		"--webhook-port", port, "--webhook-cert-dir", w.folder,
		"--health-probe-bind-address", probes)
	w.process.Env = append(os.Environ(),
		"REGISTRIES_NAMESPACE="+settings.RegistriesNamespace,
		"DEFAULT_DOMAIN="+settings.DefaultDomain,
		fmt.Sprintf("ENABLE_WEBHOOKS=%t", settings.Webhooks),
		fmt.Sprintf("ENABLE_MODEL_CATALOG=%t", settings.CatalogEnabled),
		fmt.Sprintf("SKIP_MODEL_CATALOG_DB_CREATION=%t", settings.SkipCatalogDB))
	w.process.Stdout, w.process.Stderr = w.log, w.log
	Expect(w.process.Start()).To(Succeed())
	w.running = settings
	Eventually(func(g Gomega) {
		answer, err := http.Get("http://" + probes + "/readyz")
		g.Expect(err).NotTo(HaveOccurred())
		defer answer.Body.Close()
		g.Expect(answer.StatusCode).To(Equal(http.StatusOK))
		if settings.Webhooks {
			connection, err := net.Dial("tcp", w.address)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(connection.Close()).To(Succeed())
		}
	}).WithTimeout(30*time.Second).Should(Succeed(), func() string { return w.log.String() })
	w.admit(settings.Webhooks)
}

func (w *fixture) stop() {
	if w.process == nil {
		return
	}
	_ = w.process.Process.Signal(os.Interrupt)
	_ = w.process.Wait()
	w.process = nil
}

// reconfigure restarts the operator with changed settings.
func (w *fixture) reconfigure(change map[string]any) {
	GinkgoHelper()
	settings := w.running
	if namespace, given := change["registriesNamespace"].(string); given {
		settings.RegistriesNamespace = namespace
	}
	if enabled, given := change["catalogEnabled"].(bool); given {
		settings.CatalogEnabled = enabled
	}
	w.run(settings)
}

// settle waits until nothing in the namespace has changed for a while.
func (p *player) settle() {
	GinkgoHelper()
	last, quiet := []string{}, time.Now()
	Eventually(func() bool {
		versions := p.versions()
		if !slices.Equal(versions, last) {
			last, quiet = versions, time.Now()
		}
		return time.Since(quiet) > 500*time.Millisecond
	}).Should(BeTrue(), "it does not reach steady state")
}

// versions lists the resource versions of the objects that the operator writes in the namespace.
func (p *player) versions() []string {
	GinkgoHelper()
	var out []string
	for _, kind := range []string{
		"modelregistry.opendatahub.io/v1beta1|ModelRegistry", "apps/v1|Deployment", "v1|Service", "v1|ServiceAccount", "v1|ConfigMap",
		"v1|Secret", "rbac.authorization.k8s.io/v1|Role", "networking.k8s.io/v1|NetworkPolicy",
	} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(object(kind + "||").GroupVersionKind())
		Expect(p.c.List(ctx, list, client.InNamespace(p.namespace))).To(Succeed())
		for _, item := range list.Items {
			out = append(out, item.Name+item.ResourceVersion)
		}
	}
	return out
}

var _ = Describe("The recorded cases of ModelRegistry", func() {
	groups := map[config][]scenario{}
	var order []config
	for _, s := range scenarios("registry") {
		capabilities := config{OpenShift: s.Config.OpenShift, UserAPI: s.Config.UserAPI}
		if groups[capabilities] == nil {
			order = append(order, capabilities)
		}
		groups[capabilities] = append(groups[capabilities], s)
	}
	for _, capabilities := range order {
		Context(fmt.Sprintf("with %+v", capabilities), Ordered, ContinueOnFailure, func() {
			var w *fixture
			BeforeAll(func() {
				w = newFixture(capabilities)
				DeferCleanup(func() { w.stop() })
			})
			for _, s := range groups[capabilities] {
				It(s.ID+" "+s.Name, func() {
					w.run(s.Config)
					DeferCleanup(func() {
						if CurrentSpecReport().Failed() {
							GinkgoWriter.Print(tail(w.log.String()))
						}
					})
					w.play(s)
				})
			}
		})
	}
})

var _ = Describe("The recorded cases of the model catalog", func() {
	groups := map[config][]scenario{}
	var order []config
	for _, s := range scenarios("catalog") {
		capabilities := config{OpenShift: s.Config.OpenShift, UserAPI: s.Config.UserAPI, AuthAPI: s.Config.AuthAPI}
		if groups[capabilities] == nil {
			order = append(order, capabilities)
		}
		s.Config.RegistriesNamespace = s.Namespace
		groups[capabilities] = append(groups[capabilities], s)
	}
	for _, capabilities := range order {
		Context(fmt.Sprintf("with %+v", capabilities), Ordered, ContinueOnFailure, func() {
			var w *fixture
			BeforeAll(func() {
				w = newFixture(capabilities)
				DeferCleanup(func() { w.stop() })
			})
			for _, s := range groups[capabilities] {
				It(s.ID+" "+s.Name, func() {
					w.stop() // otherwise the catalog of the previous case would react to the given objects
					w.given(s)
					w.run(s.Config)
					DeferCleanup(func() {
						if CurrentSpecReport().Failed() {
							GinkgoWriter.Print(tail(w.log.String()))
						}
						w.forget(s)
					})
					w.player(s).steps(s)
				})
			}
		})
	}
})

func tail(text string) string { return text[max(0, len(text)-6000):] }
