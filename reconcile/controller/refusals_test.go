package controller_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/lint"
)

// lines records log lines.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) logger() logr.Logger {
	return funcr.New(func(prefix, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		_, _ = fmt.Fprintln(&l.text, prefix, args)
	}, funcr.Options{})
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.ReplaceAll(l.text.String(), `\"`, `"`)
}

// refusal describes one cause of a failed reconciliation.
type refusal struct {
	// prepare sets up the cause in the namespace and returns the client configuration of the operator; nil means the administrator's.
	prepare func(ctx context.Context, c client.Client, namespace string) *rest.Config
	// child returns the planned child; nil plans a ConfigMap.
	child func(o *widget.Widget) client.Object
	// fetch runs in FetchRemoteState; nil reads nothing.
	fetch func(ctx context.Context) error
	// category, reason and words must appear in log, condition and event.
	category, reason string
	words            []string
	// hidden must not appear anywhere.
	hidden string
}

// refused waits until the API server rejects ConfigMaps in the namespace, because policies and webhooks take effect with a delay.
func refused(ctx context.Context, c client.Client, namespace string) {
	GinkgoHelper()
	Eventually(func() error {
		return c.Create(ctx, configMap(namespace, "trial", nil), client.DryRunAll)
	}).WithContext(ctx).WithTimeout(soon).Should(HaveOccurred())
}

// ofConfigMaps returns the rules of a webhook for ConfigMaps.
func ofConfigMaps() []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}
}

// validates registers a validating webhook for the ConfigMaps of the namespace.
func validates(ctx context.Context, c client.Client, namespace, name, url string, authority []byte) {
	GinkgoHelper()
	hook := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name + "." + namespace},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: name, AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: ptr.To[int32](5),
			SideEffects:   ptr.To(admissionregistrationv1.SideEffectClassNone),
			FailurePolicy: ptr.To(admissionregistrationv1.Fail),
			ClientConfig:  admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: authority},
			NamespaceSelector: &metav1.LabelSelector{
				MatchLabels: map[string]string{corev1.LabelMetadataName: namespace},
			},
			Rules: ofConfigMaps(),
		}},
	}
	Expect(c.Create(ctx, hook)).To(Succeed())
	DeferCleanup(func(ctx context.Context) { Expect(c.Delete(ctx, hook)).To(Succeed()) })
	refused(ctx, c, namespace)
}

// deny is a webhook that denies every request.
func deny(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &review)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{
		UID: review.Request.UID, Result: &metav1.Status{Message: "tenant-a has no budget left", Code: http.StatusForbidden},
	}
	review.Request = nil
	_ = json.NewEncoder(w).Encode(review) //nolint:errchkjson // it has no raw part
}

// tlsServer starts a TLS server and returns its URL and the certificate of its authority.
func tlsServer(handler http.HandlerFunc) (url string, authority []byte) {
	server := httptest.NewTLSServer(handler)
	DeferCleanup(server.Close)
	return server.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

func quota(ctx context.Context, c client.Client, namespace string) *rest.Config {
	GinkgoHelper()
	hard := corev1.ResourceList{"count/configmaps": resource.MustParse("0")}
	q := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "no-configmaps"}, Spec: corev1.ResourceQuotaSpec{Hard: hard},
	}
	Expect(c.Create(ctx, q)).To(Succeed())
	q.Status = corev1.ResourceQuotaStatus{Hard: hard, Used: hard} // no controller manager runs
	Expect(c.Status().Update(ctx, q)).To(Succeed())
	refused(ctx, c, namespace)
	return nil
}

func policy(ctx context.Context, c client.Client, namespace string) *rest.Config {
	GinkgoHelper()
	p := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "house-rules." + namespace},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
				}}},
			},
			Validations: []admissionregistrationv1.Validation{{Expression: "false", Message: "only on weekdays"}},
		},
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: p.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
	Expect(c.Create(ctx, p)).To(Succeed())
	Expect(c.Create(ctx, binding)).To(Succeed())
	DeferCleanup(func(ctx context.Context) {
		Expect(c.Delete(ctx, binding)).To(Succeed())
		Expect(c.Delete(ctx, p)).To(Succeed())
	})
	refused(ctx, c, namespace)
	return nil
}

// unprivileged returns the configuration of an account with all permissions except to write ConfigMaps.
func unprivileged(context.Context, client.Client, string) *rest.Config {
	GinkgoHelper()
	all := []string{"*"}
	return env.Rights(GinkgoTB(), []rbacv1.PolicyRule{
		{APIGroups: []string{widget.GroupVersion.Group}, Resources: all, Verbs: all},
		{APIGroups: []string{"events.k8s.io"}, Resources: all, Verbs: all},
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"}},
	}).Config()
}

// refusals counts the tests, so that each controller has a unique name.
var refusals atomic.Int64

// showsRefusal starts a controller whose reconciliation fails, and waits until log, condition, event and metric contain the cause.
func showsRefusal(ctx context.Context, r refusal) {
	GinkgoHelper()
	namespace, c := env.Namespace(GinkgoTB()), admin()
	name := fmt.Sprintf("refusals-%d", refusals.Add(1))
	w := newWidget(namespace, "w")
	var config *rest.Config
	if r.prepare != nil {
		config = r.prepare(ctx, c, namespace)
	}
	child := r.child
	if child == nil {
		child = func(o *widget.Widget) client.Object { return configMap(o.Namespace, "child", nil) }
	}
	p := &probe{
		fetch: func(ctx context.Context, _ reconcile.Reader, _ *widget.Widget) world {
			if r.fetch == nil {
				return world{}
			}
			return world{err: r.fetch(ctx)}
		},
		plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
			plan.Apply(child(o))
			return plan
		},
	}
	log, address := &lines{}, freeAddress()
	options := settings()
	options.Grace = -1
	runs{config: config, logger: log.logger(), probes: address}.start(namespace, func(mgr manager.Manager) error {
		return controller.New(name, p).Owns(child(w)).Options(options).Build().SetupWithManager(mgr)
	})
	Expect(c.Create(ctx, w)).To(Succeed())
	message := func() string { return readyMessage(ctx, c, w) }
	Eventually(message).WithTimeout(soon).Should(shows(r))
	Eventually(events).WithArguments(ctx, c, namespace).WithTimeout(soon).Should(And(shows(r), ContainSubstring("Warning")))
	Eventually(log.String).WithTimeout(soon).Should(shows(r))
	for _, text := range []string{message(), log.String()} {
		Expect(text).NotTo(ContainSubstring("API server unavailable"))
		if r.hidden != "" {
			Expect(text).NotTo(ContainSubstring(r.hidden))
		}
	}
	// The metric is updated at the end of the reconciliation, after its event.
	Eventually(metric).WithArguments("reconcilekit_errors_total", map[string]string{"controller": name, "category": r.category}).
		WithTimeout(soon).Should(BeNumerically(">", 0))
	Expect(readyz(address)).To(Equal("ok"))
	Expect(message()).NotTo(BeEmpty())
	Expect(lint.Kstatus(w)).To(Succeed())
}

var _ = Describe("A rejected write", func() {
	It("is not an error in a namespace that is being deleted", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Expect(c.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})).To(Succeed())
		refused(ctx, c, namespace)
		name := fmt.Sprintf("refusals-%d", refusals.Add(1))
		p := &probe{
			fetch: func(context.Context, reconcile.Reader, *widget.Widget) world { return world{} },
			plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
				for _, child := range []string{"a", "b"} {
					plan.Apply(configMap(o.Namespace, child, nil))
				}
				return plan
			},
		}
		log := &lines{}
		runs{logger: log.logger()}.start(namespace, func(mgr manager.Manager) error {
			return controller.New(name, p).Owns(&corev1.ConfigMap{}).Options(settings()).Build().SetupWithManager(mgr)
		})
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(And(
			MatchRegexp(`(?m)^Ready: False Progressing: namespace `+namespace+` is being deleted, and nothing can be created in it`),
			Not(ContainSubstring("DependenciesReachable"))))
		Expect(log.String()).NotTo(Or(ContainSubstring("Reconciler error"), ContainSubstring("pass failed")))
	})

	DescribeTable("is reported with its cause in log, condition and event, and the process stays ready", showsRefusal,
		Entry("by a webhook that cannot be called", refusal{
			prepare: func(ctx context.Context, c client.Client, namespace string) *rest.Config {
				validates(ctx, c, namespace, "dead.example.com", "https://127.0.0.1:1", nil)
				return nil
			},
			category: "Infrastructure", reason: "AdmissionWebhookFailed",
			words: []string{`failed calling webhook "dead.example.com"`, "connection refused"},
		}),
		Entry("by a webhook whose certificate is signed by an unknown authority", refusal{
			prepare: func(ctx context.Context, c client.Client, namespace string) *rest.Config {
				url, _ := tlsServer(deny)
				validates(ctx, c, namespace, "stranger.example.com", url, nil)
				return nil
			},
			category: "Infrastructure", reason: "AdmissionWebhookFailed",
			words: []string{`webhook "stranger.example.com"`, "x509: certificate signed by unknown authority"},
		}),
		Entry("by a webhook that denies it", refusal{
			prepare: func(ctx context.Context, c client.Client, namespace string) *rest.Config {
				url, authority := tlsServer(deny)
				validates(ctx, c, namespace, "budget.example.com", url, authority)
				return nil
			},
			category: "InvalidSpec", reason: "AdmissionWebhookDenied",
			words: []string{`admission webhook "budget.example.com" denied the request`, "tenant-a has no budget left"},
		}),
		Entry("by a ValidatingAdmissionPolicy", refusal{
			prepare: policy, category: "InvalidSpec", reason: "AdmissionPolicyDenied",
			words: []string{"ValidatingAdmissionPolicy 'house-rules.", "only on weekdays"},
		}),
		Entry("by an exhausted quota", refusal{
			prepare: quota, category: "ResourceExhaustion", reason: "QuotaExceeded",
			words: []string{"exceeded quota: no-configmaps", "count/configmaps=1"},
		}),
		Entry("by RBAC", refusal{
			prepare: unprivileged, category: "Auth", reason: "AuthError",
			words: []string{`cannot patch resource "configmaps"`, "User "},
		}),
		Entry("by Pod Security", refusal{
			prepare: func(ctx context.Context, c client.Client, namespace string) *rest.Config {
				ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
				Expect(change(ctx, c, ns, func(ns *corev1.Namespace) {
					ns.Labels["pod-security.kubernetes.io/enforce"] = "restricted"
				})).To(Succeed())
				Eventually(func() error {
					return c.Create(ctx, pod(newWidget(namespace, "w")), client.DryRunAll)
				}).WithTimeout(soon).Should(HaveOccurred())
				return nil
			},
			child:    pod,
			category: "InvalidSpec", reason: "PodSecurityViolation",
			words: []string{`violates PodSecurity "restricted:latest"`, "runAsNonRoot"},
		}),
		Entry("of an object that is too large for the storage", refusal{
			child:    func(o *widget.Widget) client.Object { return large(o, 1700000) },
			category: "ResourceExhaustion", reason: "TooLarge", words: []string{"request is too large"},
		}),
		Entry("of a request that is too large for the API server", refusal{
			child:    func(o *widget.Widget) client.Object { return large(o, 4<<20) },
			category: "ResourceExhaustion", reason: "TooLarge", words: []string{"equest entity too large", "limit is 3145728"},
		}),
		Entry("after a failed connection to a database", refusal{
			fetch: func(ctx context.Context) error {
				_, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", "127.0.0.1:1")
				return fmt.Errorf("dial the database of tenant-a at postgres://app:hunter2@127.0.0.1:1/a: %w", err)
			},
			category: "Infrastructure", reason: "ConnectionRefused", hidden: "hunter2",
			words: []string{"dial the database of tenant-a at postgres://***@127.0.0.1:1/a", "connect: connection refused"},
		}),
		Entry("after a failed connection to a server with an untrusted certificate", refusal{
			fetch: func(ctx context.Context) error {
				server := httptest.NewTLSServer(http.HandlerFunc(deny))
				defer server.Close()
				request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
				if err != nil {
					return err
				}
				answer, err := http.DefaultClient.Do(request)
				if err != nil {
					return fmt.Errorf("ask the registry of tenant-a: %w", err)
				}
				return answer.Body.Close()
			},
			category: "Infrastructure", reason: "CertificateInvalid",
			words: []string{"ask the registry of tenant-a", "x509: certificate signed by unknown authority"},
		}),
	)
})

// shows matches a text that contains the reason and all words of the refusal.
func shows(r refusal) OmegaMatcher {
	all := []OmegaMatcher{ContainSubstring(r.reason)}
	for _, word := range r.words {
		all = append(all, ContainSubstring(word))
	}
	return And(all...)
}

func pod(o *widget.Widget) client.Object {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: "child"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "example.com/c"}}},
	}
}

// large returns a child of that many bytes.
func large(o *widget.Widget, size int) client.Object {
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: "child"}, Revision: 1,
		Data: runtime.RawExtension{Raw: []byte(`{"x":"` + strings.Repeat("x", size) + `"}`)},
	}
}

// events returns the events of the namespace, one per line: type, reason and note.
func events(ctx context.Context, c client.Client, namespace string) (string, error) {
	var list corev1.EventList
	err := c.List(ctx, &list, client.InNamespace(namespace))
	var out strings.Builder
	for _, e := range list.Items {
		_, _ = fmt.Fprintln(&out, e.Type, e.Reason, e.Message)
	}
	return out.String(), err
}

// readyz returns the response of /readyz at the address.
func readyz(address string) (string, error) {
	response, err := http.Get("http://" + address + "/readyz")
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}
