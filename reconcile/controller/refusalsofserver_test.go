package controller_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
)

// makes creates a cluster-scoped object and deletes it after the spec.
func makes(ctx context.Context, c client.Client, object client.Object) {
	GinkgoHelper()
	Expect(c.Create(ctx, object)).To(Succeed())
	DeferCleanup(func(ctx context.Context) { Expect(client.IgnoreNotFound(c.Delete(ctx, object))).To(Succeed()) })
}

// mutates registers a mutating webhook for the ConfigMaps of the namespace.
func mutates(ctx context.Context, c client.Client, namespace, name string, handler http.HandlerFunc) {
	GinkgoHelper()
	url, authority := tlsServer(handler)
	makes(ctx, c, &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name + "." + namespace},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: name, AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: ptr.To[int32](1),
			SideEffects:       ptr.To(admissionregistrationv1.SideEffectClassNone),
			FailurePolicy:     ptr.To(admissionregistrationv1.Fail),
			ClientConfig:      admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: authority},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			Rules:             ofConfigMaps(),
		}},
	})
	refused(ctx, c, namespace)
}

// outdated starts a TLS server whose certificate expired yesterday.
func outdated() (url string, authority []byte) {
	GinkgoHelper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	Expect(err).NotTo(HaveOccurred())
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: now.Add(-48 * time.Hour), NotAfter: now.Add(-24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	Expect(err).NotTo(HaveOccurred())
	server := httptest.NewUnstartedServer(http.HandlerFunc(deny))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}}
	server.StartTLS()
	DeferCleanup(server.Close)
	return server.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
}

// throttled returns the administrator's configuration with a transport that rejects writes of ConfigMaps like API Priority and Fairness: status 429 in plain text.
func throttled(context.Context, client.Client, string) *rest.Config {
	config := env.Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodPatch || !strings.HasSuffix(r.URL.Path, "/configmaps/child") {
				return next.RoundTrip(r)
			}
			answer := httptest.NewRecorder()
			answer.Header().Set("Retry-After", "1")
			http.Error(answer, "Too many counted, please try again later.", http.StatusTooManyRequests)
			return answer.Result(), nil
		})
	})
	return config
}

// roundTripper is a function that implements http.RoundTripper.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

var gadgets = schema.GroupVersionKind{Group: "refused.reconcilekit.dev", Version: "v2", Kind: "Gadget"}

// unconverted serves a kind in two versions whose conversion webhook is unavailable.
func unconverted(ctx context.Context, _ client.Client, namespace string) *rest.Config {
	GinkgoHelper()
	schemaOf := &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
		Type: "object", XPreserveUnknownFields: new(true),
	}}
	scheme := testScheme(GinkgoTB())
	Expect(apiextensionsv1.AddToScheme(scheme)).To(Succeed())
	c, err := client.New(env.Config(), client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	url := "https://127.0.0.1:1/convert"
	makes(ctx, c, &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets." + gadgets.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: gadgets.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: gadgets.Kind, ListKind: "GadgetList", Plural: "gadgets", Singular: "gadget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
				{Name: "v1", Served: true, Storage: true, Schema: schemaOf}, {Name: "v2", Served: true, Schema: schemaOf},
			},
			Conversion: &apiextensionsv1.CustomResourceConversion{
				Strategy: apiextensionsv1.WebhookConverter,
				Webhook: &apiextensionsv1.WebhookConversion{
					ConversionReviewVersions: []string{"v1"}, ClientConfig: &apiextensionsv1.WebhookClientConfig{URL: &url},
				},
			},
		},
	})
	Eventually(func() bool {
		err := c.Create(ctx, inOtherVersion(newWidget(namespace, "w")), client.DryRunAll)
		return err != nil && !meta.IsNoMatchError(err)
	}).WithTimeout(soon).Should(BeTrue())
	return nil
}

func inOtherVersion(o *widget.Widget) client.Object {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gadgets)
	u.SetNamespace(o.Namespace)
	u.SetName("child")
	return u
}

// podWith returns a valid Pod with a change.
func podWith(change func(*corev1.PodSpec)) func(*widget.Widget) client.Object {
	return func(o *widget.Widget) client.Object {
		p := pod(o).(*corev1.Pod)
		change(&p.Spec)
		return p
	}
}

var _ = Describe("A write that fails in the API server", func() {
	DescribeTable("is reported with its cause", showsRefusal,
		Entry("webhook that times out", refusal{
			prepare: func(ctx context.Context, c client.Client, namespace string) *rest.Config {
				mutates(ctx, c, namespace, "slow.example.com", func(http.ResponseWriter, *http.Request) { time.Sleep(3 * time.Second) })
				return nil
			},
			category: "Infrastructure", reason: "AdmissionWebhookFailed",
			words: []string{`failed calling webhook "slow.example.com"`, "context deadline exceeded"},
		}),
		Entry("webhook with an expired certificate", refusal{
			prepare: func(ctx context.Context, c client.Client, namespace string) *rest.Config {
				url, authority := outdated()
				validates(ctx, c, namespace, "outdated.example.com", url, authority)
				return nil
			},
			category: "Infrastructure", reason: "AdmissionWebhookFailed",
			words: []string{`webhook "outdated.example.com"`, "certificate has expired or is not yet valid"},
		}),
		Entry("webhook that answers with status 500", refusal{
			prepare: func(ctx context.Context, c client.Client, namespace string) *rest.Config {
				mutates(ctx, c, namespace, "broken.example.com", func(w http.ResponseWriter, _ *http.Request) {
					http.Error(w, "nil pointer in the price list", http.StatusInternalServerError)
				})
				return nil
			},
			category: "Infrastructure", reason: "AdmissionWebhookFailed",
			words: []string{`webhook "broken.example.com"`, "nil pointer in the price list"},
		}),
		Entry("webhook that does not answer with JSON", refusal{
			prepare: func(ctx context.Context, c client.Client, namespace string) *rest.Config {
				mutates(ctx, c, namespace, "stranger.example.com", func(w http.ResponseWriter, _ *http.Request) {
					_, _ = fmt.Fprint(w, "<html>sign in first</html>")
				})
				return nil
			},
			category: "Infrastructure", reason: "AdmissionWebhookFailed", words: []string{`webhook "stranger.example.com"`},
		}),
		Entry("unavailable conversion webhook", refusal{
			prepare: unconverted, child: inOtherVersion,
			category: "Infrastructure", reason: "ConversionWebhookFailed",
			words: []string{"conversion webhook for refused.reconcilekit.dev/v2, Kind=Gadget failed", "connection refused"},
		}),
		Entry("API Priority and Fairness", refusal{
			prepare:  throttled,
			category: "Infrastructure", reason: "RateLimited", words: []string{"too many requests"},
		}),
		Entry("LimitRange", refusal{
			prepare: func(ctx context.Context, c client.Client, namespace string) *rest.Config {
				Expect(c.Create(ctx, &corev1.LimitRange{
					ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "small"},
					Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
						Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Mi")},
					}}},
				})).To(Succeed())
				return nil
			},
			child: podWith(func(s *corev1.PodSpec) {
				s.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
			}),
			category: "InvalidSpec", reason: "LimitRangeViolation", words: []string{"maximum memory usage per Container is 1Mi"},
		}),
		Entry("missing PriorityClass", refusal{
			child:    podWith(func(s *corev1.PodSpec) { s.PriorityClassName = "urgent" }),
			category: "InvalidSpec", reason: "AdmissionDenied", words: []string{"no PriorityClass with name urgent was found"},
		}),
		Entry("RBAC escalation", refusal{
			prepare: func(context.Context, client.Client, string) *rest.Config {
				all := []string{"*"}
				return env.Rights(GinkgoTB(), []rbacv1.PolicyRule{
					{APIGroups: []string{widget.GroupVersion.Group, "events.k8s.io"}, Resources: all, Verbs: all},
					{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"roles"}, Verbs: []string{"get", "list", "watch", "patch", "create"}},
				}).Config()
			},
			child: func(o *widget.Widget) client.Object {
				return &rbacv1.Role{
					ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: "child"},
					Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list"}}},
				}
			},
			category: "Auth", reason: "AuthError",
			words: []string{"attempting to grant RBAC permissions not currently held", `Resources:["secrets"]`},
		}),
		Entry("validation", refusal{
			child: func(o *widget.Widget) client.Object {
				s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: "child"}}
				s.Spec.Type = corev1.ServiceTypeNodePort
				s.Spec.Ports = []corev1.ServicePort{{Port: 80, NodePort: 7}}
				return s
			},
			category: "InvalidSpec", reason: "InvalidSpec", words: []string{"spec.ports[0].nodePort", "provided port is not in the valid range"},
		}),
	)
})
