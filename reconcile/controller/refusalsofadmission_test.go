package controller_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
)

// mutatingPolicy creates a MutatingAdmissionPolicy whose expression fails.
func mutatingPolicy(ctx context.Context, c client.Client, namespace string) *rest.Config {
	GinkgoHelper()
	p := &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "defaults." + namespace},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			FailurePolicy:      ptr.To(admissionregistrationv1.Fail),
			ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
					Rule:       ofConfigMaps()[0].Rule,
				}}},
			},
			Mutations: []admissionregistrationv1.Mutation{{
				PatchType: admissionregistrationv1.PatchTypeApplyConfiguration,
				ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{
					Expression: `Object{metadata: Object.metadata{labels: {"team": object.metadata.annotations["the-team"]}}}`,
				},
			}},
		},
	}
	makes(ctx, c, p)
	makes(ctx, c, &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name},
		Spec:       admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: p.Name},
	})
	refused(ctx, c, namespace)
	return nil
}

// answered returns the administrator's configuration with a transport that answers writes of the child with the status.
func answered(status metav1.Status) func(context.Context, client.Client, string) *rest.Config {
	status.TypeMeta, status.Status = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, metav1.StatusFailure
	return func(context.Context, client.Client, string) *rest.Config {
		config := env.Config()
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				if r.Method != http.MethodPatch || !strings.HasSuffix(r.URL.Path, "/configmaps/child") {
					return next.RoundTrip(r)
				}
				answer := httptest.NewRecorder()
				answer.Header().Set("Content-Type", "application/json")
				answer.WriteHeader(int(status.Code))
				_ = json.NewEncoder(answer).Encode(&status)
				return answer.Result(), nil
			})
		})
		return config
	}
}

// verbose is a webhook that denies with a long message that contains a credential.
func verbose(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	text := "the ledger postgres://app:hunter2@db/ledger has password=hunter2 and says: " + strings.Repeat("no, ", 3000) + "that is all"
	review.Response = &admissionv1.AdmissionResponse{
		UID: review.Request.UID, Result: &metav1.Status{Message: text, Code: http.StatusForbidden},
	}
	review.Request = nil
	_ = json.NewEncoder(w).Encode(review) //nolint:errchkjson // it has no raw part
}

var _ = Describe("A write rejected by admission or storage", func() {
	DescribeTable("is reported with its cause", showsRefusal,
		Entry("MutatingAdmissionPolicy", refusal{
			prepare: mutatingPolicy, category: "InvalidSpec", reason: "AdmissionPolicyDenied",
			words: []string{"policy 'defaults.", "denied request", "no such key: annotations"},
		}),
		Entry("webhook that denies with a long message", refusal{
			prepare: func(ctx context.Context, c client.Client, namespace string) *rest.Config {
				url, authority := tlsServer(verbose)
				validates(ctx, c, namespace, "verbose.example.com", url, authority)
				return nil
			},
			category: "InvalidSpec", reason: "AdmissionWebhookDenied", hidden: "hunter2",
			words: []string{`admission webhook "verbose.example.com" denied the request`, "postgres://***@db/ledger", "password=***"},
		}),
		Entry("expired token", refusal{
			prepare:  answered(metav1.Status{Message: "Unauthorized", Reason: metav1.StatusReasonUnauthorized, Code: http.StatusUnauthorized}),
			category: "Auth", reason: "AuthError", words: []string{"Unauthorized"},
		}),
		Entry("full storage", refusal{
			prepare:  answered(metav1.Status{Message: "etcdserver: mvcc: database space exceeded", Code: http.StatusInternalServerError}),
			category: "ResourceExhaustion", reason: "StorageFull", words: []string{"database space exceeded"},
		}),
		Entry("namespace outside of the operator's namespaces", refusal{
			child:    func(*widget.Widget) client.Object { return configMap("nowhere", "child", nil) },
			category: "InvalidSpec", reason: "NamespaceNotWatched", words: []string{"nowhere/child because of unknown namespace for the cache"},
		}),
	)

	It("because of a missing namespace is retried without an event", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		later := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace + "-later"}}
		p := &probe{plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
			if o.Namespace == namespace {
				plan.Apply(configMap(later.Name, "child", nil))
			}
			return plan
		}}
		log := &lines{}
		b := controller.New("later", p).Owns(&corev1.ConfigMap{}).Options(settings()).Build()
		runs{logger: log.logger()}.start("", func(mgr manager.Manager) error { return b.SetupWithManager(mgr) })
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		words := fmt.Sprintf("namespaces %q not found", later.Name)
		Eventually(func() string { return readyMessage(ctx, c, w) }).WithTimeout(soon).Should(ContainSubstring(words))
		Eventually(log.String).WithTimeout(soon).Should(ContainSubstring(words))
		Eventually(func(g Gomega) { // the explanation is updated after the status is stored
			o, err := b.Explain(ctx, client.ObjectKeyFromObject(w))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(o.Next).NotTo(BeNil(), o.String())
			g.Expect(time.Until(o.Next.At)).To(BeNumerically("<=", pipeline.DefaultTerminalRetry))
		}).WithTimeout(soon).Should(Succeed())
	})

	It("is logged with the entire message, and reported elsewhere with a truncated one", func(ctx context.Context) {
		namespace, c, log := env.Namespace(GinkgoTB()), admin(), &lines{}
		url, authority := tlsServer(verbose)
		validates(ctx, c, namespace, "lengthy.example.com", url, authority)
		p := &probe{plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
			plan.Apply(configMap(o.Namespace, "child", nil))
			return plan
		}}
		runs{logger: log.logger()}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("lengthy", p).Owns(&corev1.ConfigMap{}).Options(settings()).Build().SetupWithManager(mgr)
		})
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(log.String).WithTimeout(soon).Should(ContainSubstring("no, that is all"))
		Eventually(func() string { return readyMessage(ctx, c, w) }).WithTimeout(soon).Should(ContainSubstring("lengthy.example.com"))
		for _, condition := range w.Status.Conditions {
			Expect(len(condition.Message)).To(BeNumerically("<=", 1024), condition.Type)
		}
		var told string
		Eventually(func() (string, error) {
			var err error
			told, err = events(ctx, c, namespace)
			return told, err
		}).WithTimeout(soon).Should(ContainSubstring("lengthy.example.com"))
		Expect(told).NotTo(ContainSubstring("that is all"))
		Expect(told + log.String()).NotTo(ContainSubstring("hunter2"))
	})
})
