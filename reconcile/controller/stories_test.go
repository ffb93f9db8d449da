package controller_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/explain"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/lint"
)

// story is an operator that fails, with its log, probes and client.
type story struct {
	client.Client
	name, namespace, address string
	log                      *lines
	owner                    *widget.Widget
	explain                  func(context.Context, types.NamespacedName) (explain.Owner, error)
}

// tell starts a controller with the plan and creates an owner.
func tell(ctx context.Context, name string, config *rest.Config, plan func(*widget.Widget) reconcile.PlanResult) *story {
	GinkgoHelper()
	s := &story{Client: admin(), name: name, namespace: env.Namespace(GinkgoTB()), address: freeAddress(), log: &lines{}}
	s.start(config, plan)
	s.owner = newWidget(s.namespace, "w")
	Expect(s.Create(ctx, s.owner)).To(Succeed())
	return s
}

func (s *story) start(config *rest.Config, plan func(*widget.Widget) reconcile.PlanResult) {
	GinkgoHelper()
	p := &probe{plan: func(o *widget.Widget, _ world) reconcile.PlanResult { return plan(o) }}
	b := controller.New(s.name, p).Owns(&corev1.ConfigMap{}).Owns(&corev1.Service{}).Options(settings()).Build()
	s.explain = b.Explain
	cache, err := controller.CacheOptions(testScheme(GinkgoTB()), b)
	Expect(err).NotTo(HaveOccurred())
	runs{config: config, cache: cache, logger: s.log.logger(), probes: s.address}.start(s.namespace, func(mgr manager.Manager) error {
		return b.SetupWithManager(mgr)
	})
}

// shows waits at most a minute until log, conditions, events and metrics name the cause, and checks that the process stays ready.
func (s *story) shows(ctx context.Context, category, kind, reason string, words ...string) {
	GinkgoHelper()
	r := refusal{reason: reason, words: words}
	Eventually(func() string { return readyMessage(ctx, s, s.owner) }).WithTimeout(time.Minute).Should(shows(r))
	Eventually(s.log.String).WithTimeout(time.Minute).Should(shows(r))
	Eventually(events).WithArguments(ctx, s.Client, s.namespace).WithTimeout(time.Minute).Should(shows(r))
	told, err := events(ctx, s.Client, s.namespace)
	Expect(err).NotTo(HaveOccurred())
	Expect(strings.Count(told, words[0])).To(Equal(1), "one cause is one event:\n%s", told)
	labels := map[string]string{"controller": s.name, "category": category, "kind": kind}
	// The metric is updated at the end of the reconciliation, after its writes.
	Eventually(metric).WithArguments("reconcilekit_errors_total", labels).Should(BeNumerically(">", 0))
	Eventually(metric).WithArguments("reconcilekit_owners", map[string]string{"controller": s.name, "condition": "Ready", "status": "False"}).
		Should(Equal(1))
	Expect(metric("reconcilekit_oldest_not_ready_seconds", map[string]string{"controller": s.name})).To(BeNumerically(">=", 0))
	tree, err := s.explain(ctx, client.ObjectKeyFromObject(s.owner))
	Expect(err).NotTo(HaveOccurred())
	because, _, _ := strings.Cut(tree.String(), "conditions")
	Expect(because).To(shows(refusal{words: words}), "the first cause")
	families, err := metrics.Registry.Gather()
	Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		for _, sample := range family.GetMetric() {
			for _, label := range sample.GetLabel() {
				Expect(label.GetValue()).NotTo(ContainSubstring(" "), family.GetName())
			}
		}
	}
	Expect(lint.Kstatus(s.owner)).To(Succeed())
	Expect(readyz(s.address)).To(Equal("ok"))
}

// colour plans one ConfigMap.
func colour(o *widget.Widget) (plan reconcile.PlanResult) {
	child := configMap(o.Namespace, "settings", nil)
	child.Data = map[string]string{"colour": "green"}
	plan.Apply(child)
	return plan
}

func portal(o *widget.Widget) (plan reconcile.PlanResult) {
	service := &corev1.Service{}
	service.Namespace, service.Name = o.Namespace, "portal"
	service.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 80}}
	plan.Apply(service)
	return plan
}

// insists calls do repeatedly until the spec ends, like another writer that conflicts with the plan.
func insists(do func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			do(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(pause / 2):
			}
		}
	})
	DeferCleanup(func() {
		cancel()
		running.Wait()
	})
}

var _ = Describe("Within a minute, an operator", func() {
	BeforeEach(func() {
		if testing.Short() {
			Skip("waits until conditions, events and metrics are there")
		}
	})

	It("reports an unavailable webhook", func(ctx context.Context) {
		namespace := env.Namespace(GinkgoTB())
		s := &story{Client: admin(), name: "story-webhook", namespace: namespace, address: freeAddress(), log: &lines{}}
		validates(ctx, s, namespace, "dead.example.com", "https://127.0.0.1:1", nil)
		s.start(nil, colour)
		s.owner = newWidget(namespace, "w")
		Expect(s.Create(ctx, s.owner)).To(Succeed())
		s.shows(ctx, "Infrastructure", "ConfigMap", "AdmissionWebhookFailed", `failed calling webhook "dead.example.com"`, "connection refused")
	})

	It("reports a manager that repeatedly takes a field by force", func(ctx context.Context) {
		s := tell(ctx, "story-force", nil, colour)
		insists(func(ctx context.Context) {
			theirs := configMap(s.namespace, "settings", nil)
			if s.Get(ctx, client.ObjectKeyFromObject(theirs), &corev1.ConfigMap{}) != nil {
				return // not created yet
			}
			theirs.APIVersion, theirs.Kind = "v1", "ConfigMap"
			theirs.Data = map[string]string{"colour": "red"}
			_ = s.Patch(ctx, theirs, client.Apply, client.ForceOwnership, client.FieldOwner("painter")) //nolint:staticcheck // a typed object
		})
		s.shows(ctx, "Conflict", "ConfigMap", "FieldsContested", ".data.colour", `"painter"`)
		Eventually(metric).WithArguments("reconcilekit_contested_objects_total", map[string]string{"controller": s.name, "kind": "ConfigMap"}).
			Should(BeNumerically(">", 0))
	})

	It("reports a manager that repeatedly updates an atomic field", func(ctx context.Context) {
		s := tell(ctx, "story-update", nil, portal)
		insists(func(ctx context.Context) {
			var theirs corev1.Service
			if s.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: "portal"}, &theirs) == nil {
				theirs.Spec.Ports[0].Port = 8080
				_ = s.Update(ctx, &theirs, client.FieldOwner("painter"))
			}
		})
		s.shows(ctx, "Conflict", "Service", "FieldsContested", ".spec.ports", `"painter"`)
	})

	It("reports a missing permission to write", func(ctx context.Context) {
		s := tell(ctx, "story-write", env.Rights(GinkgoTB(), rightsBut("services", "get", "list", "watch")).Config(), portal)
		s.shows(ctx, "Auth", "Service", "AuthError", `cannot patch resource "services"`, "User ")
	})

	It("reports a missing permission to list, and only its own process is not ready", func(ctx context.Context) {
		s := tell(ctx, "story-list", env.Rights(GinkgoTB(), rightsBut("services", "get", "patch")).Config(), portal)
		Eventually(func() string {
			_, _ = readyz(s.address)
			return s.log.String()
		}).WithTimeout(time.Minute).Should(ContainSubstring(`"reason"="the caches of /v1/Service are not synced: ` +
			`failed to list *v1.Service: services is forbidden: User `))
		Expect(s.log.String()).To(ContainSubstring(`cannot list resource "services"`))
		Expect(readyz(s.address)).To(ContainSubstring("[-]" + s.name + " failed"))
		synced := func(kind string) int {
			return metric("reconcilekit_cache_synced", map[string]string{"controller": s.name, "kind": kind})
		}
		Expect([]int{synced("Service"), synced("ConfigMap")}).To(Equal([]int{0, 1}))
		// No reconciliation runs, so the owner has no condition and no event.
		Expect(readyMessage(ctx, s, s.owner)).To(BeEmpty())

		other := &story{Client: s.Client, name: "story-list-other", namespace: s.namespace, address: freeAddress(), log: &lines{}}
		other.start(nil, func(*widget.Widget) (plan reconcile.PlanResult) { return plan })
		Eventually(readyz).WithArguments(other.address).WithTimeout(time.Minute).Should(Equal("ok"))
	})

	It("reports that it lost a permission to list", func(ctx context.Context) {
		rights := env.Rights(GinkgoTB(), rightsBut("services", "get", "list", "watch", "create", "patch"))
		link := newLink(env.Config().Host)
		config := rights.Config()
		config.Host, config.ServerName = link.config().Host, link.config().ServerName
		s := tell(ctx, "story-list-later", config, portal)
		failures := func(kind string) int {
			return metric("reconcilekit_list_failures_total", map[string]string{"controller": s.name, "kind": kind})
		}
		Eventually(func() string { return readyMessage(ctx, s, s.owner) }).WithTimeout(time.Minute).Should(ContainSubstring("Ready: True"))

		By("ending the watch, which then lacks the permission to list")
		role := &rbacv1.ClusterRole{}
		Expect(s.Get(ctx, client.ObjectKey{Name: strings.Split(rights.User(), ":")[2]}, role)).To(Succeed())
		role.Rules = rightsBut("services", "get", "patch")
		Expect(s.Update(ctx, role)).To(Succeed())
		link.cut()
		link.mend()
		Eventually(failures).WithArguments("Service").WithTimeout(time.Minute).Should(BeNumerically(">", 2))
		Expect(failures("ConfigMap")).To(BeNumerically("<", failures("Service")))
		Expect(readyz(s.address)).To(Equal("ok"), "the process stays ready with its cached objects")
	})

	It("reports that the API server is unavailable, and later that it is available", func(ctx context.Context) {
		link := newLink(env.Config().Host)
		var data atomic.Value
		data.Store("before")
		s := tell(ctx, "story-gone", link.config(), func(o *widget.Widget) (plan reconcile.PlanResult) {
			child := configMap(o.Namespace, "settings", nil)
			child.Data = map[string]string{"value": data.Load().(string)}
			plan.Apply(child)
			plan.RequeueAfter = time.Second
			return plan
		})
		Eventually(func() string { return readyMessage(ctx, s, s.owner) }).WithTimeout(time.Minute).Should(ContainSubstring("Ready: True"))
		Eventually(readyz).WithArguments(s.address).WithTimeout(time.Minute).Should(Equal("ok"))

		link.cut()
		data.Store("after")
		Eventually(readyz).WithArguments(s.address).WithTimeout(time.Minute).Should(ContainSubstring("[-]api-server failed"))
		Eventually(s.log.String).WithTimeout(time.Minute).Should(And(
			ContainSubstring(`"not ready"`), ContainSubstring("the API server does not answer"), ContainSubstring("connection refused"),
		))
		labels := map[string]string{"controller": s.name, "category": "Infrastructure", "kind": "ConfigMap"}
		Eventually(func() int { return metric("reconcilekit_errors_total", labels) }).WithTimeout(time.Minute).Should(BeNumerically(">", 0))

		link.mend()
		Eventually(readyz).WithArguments(s.address).WithTimeout(time.Minute).Should(Equal("ok"))
		Eventually(func() string {
			var child corev1.ConfigMap
			_ = s.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: "settings"}, &child)
			return child.Data["value"]
		}).WithTimeout(time.Minute).Should(Equal("after"))
		Eventually(func() string { return readyMessage(ctx, s, s.owner) }).WithTimeout(time.Minute).Should(ContainSubstring("Ready: True"))
		Expect(s.log.String()).To(ContainSubstring(`"ready again" "check"="api-server"`))
	})
})

// rightsBut returns the permissions of a story's operator, with these verbs for one resource of the core group.
func rightsBut(resource string, verbs ...string) []rbacv1.PolicyRule {
	all := []string{"*"}
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{widget.GroupVersion.Group, "events.k8s.io"}, Resources: all, Verbs: all},
		{APIGroups: []string{""}, Resources: []string{resource}, Verbs: verbs},
	}
	for _, other := range []string{"configmaps", "services"} {
		if other != resource {
			rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{other}, Verbs: all})
		}
	}
	return rules
}

// link is a TCP proxy to the API server. While it is cut, connections are closed and new ones are refused.
type link struct {
	server  *url.URL
	address string

	mu       sync.Mutex
	listener net.Listener
	open     []net.Conn
}

func newLink(host string) *link {
	GinkgoHelper()
	if !strings.Contains(host, "://") {
		host = "https://" + host
	}
	server, err := url.Parse(host)
	Expect(err).NotTo(HaveOccurred())
	l := &link{server: server, address: freeAddress()}
	l.mend()
	DeferCleanup(l.cut)
	return l
}

// config returns the administrator's configuration with the address of the link.
func (l *link) config() *rest.Config {
	config := env.Config()
	config.Host = "https://" + l.address
	config.ServerName = l.server.Hostname()
	return config
}

func (l *link) mend() {
	GinkgoHelper()
	listener, err := net.Listen("tcp", l.address)
	Expect(err).NotTo(HaveOccurred())
	l.mu.Lock()
	l.listener = listener
	l.mu.Unlock()
	go func() {
		for {
			here, err := listener.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("tcp", l.server.Host)
			if err != nil {
				_ = here.Close()
				continue
			}
			l.mu.Lock()
			l.open = append(l.open, here, there)
			l.mu.Unlock()
			for _, pair := range [][2]net.Conn{{here, there}, {there, here}} {
				go func() {
					_, _ = io.Copy(pair[0], pair[1])
					_ = pair[0].Close()
				}()
			}
		}
	}()
}

func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.listener.Close()
	for _, c := range l.open {
		_ = c.Close()
	}
	l.open = nil
}
