package controller_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// freeAddress returns a loopback address with an unused port.
func freeAddress() string {
	GinkgoHelper()
	return environment.FreeAddress(GinkgoTB())
}

var _ = Describe("Readiness of the process", func() {
	It("is not affected by an owner whose status cannot be stored", func(ctx context.Context) {
		const name = "status-conflict"
		namespace, c := env.Namespace(GinkgoTB()), admin()
		conflict := apierrors.NewConflict(schema.GroupResource{Group: widget.GroupVersion.Group, Resource: "widgets"}, "w", errors.New("changed"))
		var failing atomic.Bool
		failing.Store(true)
		counted := &requests.Requests{}
		counted.Inject(func(r requests.Request) *requests.Fault {
			if failing.Load() && r.Subresource == "status" {
				return &requests.Fault{Err: conflict}
			}
			return nil
		})
		address := freeAddress()
		runs{wrap: counted.RoundTripper, probes: address}.start(namespace, func(mgr manager.Manager) error {
			return controller.New(name, &probe{}).Options(settings()).Build().SetupWithManager(mgr)
		})
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(metric).WithArguments("reconcilekit_errors_total", map[string]string{"controller": name, "category": "Conflict"}).
			WithTimeout(soon).Should(BeNumerically(">", 2))
		Expect(readyz(address)).To(Equal("ok"))
		failing.Store(false)
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).ShouldNot(BeEmpty())
		Expect(w.Status.ObservedGeneration).To(Equal(w.Generation))
	})

	It("is lost while the API server is unavailable, and the log contains the reason", func(_ context.Context) {
		namespace, log, address := env.Namespace(GinkgoTB()), &lines{}, freeAddress()
		var down atomic.Bool
		wrap := func(next http.RoundTripper) http.RoundTripper {
			return roundTrip(func(r *http.Request) (*http.Response, error) {
				if down.Load() {
					return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
				}
				return next.RoundTrip(r)
			})
		}
		runs{wrap: wrap, logger: log.logger(), probes: address}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("unreachable", &probe{}).Options(settings()).Build().SetupWithManager(mgr)
		})
		Eventually(readyz).WithArguments(address).WithTimeout(soon).Should(Equal("ok"))
		down.Store(true)
		Eventually(readyz).WithArguments(address).WithTimeout(soon).Should(ContainSubstring("[-]api-server failed"))
		Expect(log.String()).To(ContainSubstring("the API server does not answer"))
		down.Store(false)
		Eventually(readyz).WithArguments(address).WithTimeout(soon).Should(Equal("ok"))
	})

	It("waits for the caches, also on a standby, and names the kind that must not be listed", func(_ context.Context) {
		namespace, log, address := env.Namespace(GinkgoTB()), &lines{}, freeAddress()
		rules := []rbacv1.PolicyRule{
			{APIGroups: []string{widget.GroupVersion.Group}, Resources: []string{"*"}, Verbs: []string{"*"}},
		}
		config := env.Rights(GinkgoTB(), rules).Config()
		runs{config: config, logger: log.logger(), probes: address}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("unlisted", &probe{}).Owns(&corev1.ConfigMap{}).Options(settings()).Build().SetupWithManager(mgr)
		})
		Eventually(readyz).WithArguments(address).WithTimeout(soon).Should(ContainSubstring("[-]unlisted failed"))
		Expect(log.String()).To(ContainSubstring("the caches of"))
		Eventually(func() string {
			_, _ = readyz(address)
			return log.String()
		}).WithTimeout(soon).Should(ContainSubstring("the caches of /v1/ConfigMap are not synced"))
		Consistently(readyz).WithArguments(address).WithTimeout(pause).Should(ContainSubstring("[-]unlisted failed"))
	})

	It("of a standby depends only on its caches", func(_ context.Context) {
		namespace := env.Namespace(GinkgoTB())
		start := func(name string) (address string) {
			address = freeAddress()
			runs{leaders: true, probes: address}.start(namespace, func(mgr manager.Manager) error {
				return controller.New(name, &probe{}).Owns(&corev1.ConfigMap{}).Options(settings()).Build().SetupWithManager(mgr)
			})
			return address
		}
		leader, standby := start("standby"), start("standby")
		Eventually(readyz).WithArguments(leader).WithTimeout(soon).Should(Equal("ok"))
		Eventually(readyz).WithArguments(standby).WithTimeout(soon).Should(Equal("ok"))
	})

	It("waits for the webhook server of a manager that has one", func(_ context.Context) {
		namespace, address := env.Namespace(GinkgoTB()), freeAddress()
		server := &notStarted{Server: webhook.NewServer(webhook.Options{})}
		runs{probes: address, webhooks: server}.start(namespace, func(mgr manager.Manager) error {
			return controller.ServeWebhooks(mgr, map[string]http.Handler{"/validate": http.NotFoundHandler()})
		})
		Eventually(readyz).WithArguments(address).WithTimeout(soon).Should(ContainSubstring("[-]webhooks failed"))
		server.started.Store(true)
		Eventually(readyz).WithArguments(address).WithTimeout(soon).Should(Equal("ok"))
	})

	It("is not affected by a paused owner, which log, condition, event and metric report", func(ctx context.Context) {
		const name = "paused"
		namespace, c, log, address := env.Namespace(GinkgoTB()), admin(), &lines{}, freeAddress()
		p := &probe{plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
			child := configMap(o.Namespace, "child", nil)
			child.Data = map[string]string{"not a key": ""}
			plan.Apply(child)
			return plan
		}}
		runs{logger: log.logger(), probes: address}.start(namespace, func(mgr manager.Manager) error {
			return controller.New(name, p).Owns(&corev1.ConfigMap{}).Options(settings()).Build().SetupWithManager(mgr)
		})
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(ContainSubstring("not a key"))
		pause := func(value string) {
			Expect(change(ctx, c, w, func(w *widget.Widget) {
				w.Annotations = map[string]string{pipeline.DefaultPauseAnnotation: value}
			})).To(Succeed())
		}
		pause("true")
		Eventually(log.String).WithTimeout(soon).Should(ContainSubstring(`"paused: nothing is read or written`))
		Eventually(func() int { return metric("reconcilekit_paused_owners", map[string]string{"controller": name}) }).
			WithTimeout(soon).Should(Equal(1))
		Eventually(events).WithArguments(ctx, c, namespace).WithTimeout(soon).Should(ContainSubstring("Normal Paused"))
		Eventually(readyMessage).WithArguments(ctx, c, w).WithTimeout(soon).Should(ContainSubstring("Paused: True Paused: Paused by the annotation"))
		Expect(readyz(address)).To(Equal("ok"))
		pause("false")
		Eventually(events).WithArguments(ctx, c, namespace).WithTimeout(soon).Should(ContainSubstring("Normal Resumed"))
		Eventually(func() int { return metric("reconcilekit_paused_owners", map[string]string{"controller": name}) }).
			WithTimeout(soon).Should(Equal(0))
	})
})

// roundTrip is a function that implements http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// notStarted is a webhook server that starts when a test tells it to.
type notStarted struct {
	webhook.Server
	started atomic.Bool
}

func (s *notStarted) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func (s *notStarted) StartedChecker() healthz.Checker {
	return func(*http.Request) error {
		if s.started.Load() {
			return nil
		}
		return errors.New("the webhook server has not been started yet")
	}
}
