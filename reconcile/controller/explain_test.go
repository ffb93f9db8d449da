package controller_test

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// guarded accepts only requests with a token, like the filter of a metrics server.
func guarded(*rest.Config, *http.Client) (server.Filter, error) {
	return func(_ logr.Logger, next http.Handler) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "" {
				http.Error(w, "who are you?", http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		}), nil
	}, nil
}

// asked returns the response of the metrics server for the path.
func asked(address, path, token string) (status int, body string) {
	GinkgoHelper()
	request, err := http.NewRequest(http.MethodGet, "http://"+address+path, nil)
	Expect(err).NotTo(HaveOccurred())
	if token != "" {
		request.Header.Set("Authorization", token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	return response.StatusCode, string(text)
}

var _ = Describe("An explanation", func() {
	It("contains trigger, reads, decisions, writes, the first cause and the next reconciliation, in a test and over HTTP", func(ctx context.Context) {
		namespace, c, address := env.Namespace(GinkgoTB()), admin(), freeAddress()
		input := configMap(namespace, "input", nil)
		p := &probe{
			fetch: func(ctx context.Context, r reconcile.Reader, owner *widget.Widget) world {
				got := reconcile.Fetch(ctx, r, client.ObjectKey{Namespace: namespace, Name: "input"}, &corev1.ConfigMap{})
				_ = r.List(ctx, &corev1.SecretList{}, client.InNamespace(owner.Namespace), client.MatchingLabels{"of": owner.Name})
				if !got.OK() {
					return world{err: health.NewError(health.MissingUpstreamDependency, "NoInput", "ConfigMap input is missing", got.Error)}
				}
				return world{}
			},
			plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
				child := configMap(o.Namespace, "settings", nil)
				child.Data = map[string]string{"password": "hunter2"}
				plan.Apply(child)
				plan.RequeueAfter = time.Hour
				return plan
			},
		}
		b := controller.New("explained", p).Owns(&corev1.ConfigMap{}).Reads(&corev1.Secret{}).Options(settings()).Build()
		options := server.Options{BindAddress: address, FilterProvider: guarded}
		runs{metrics: options}.start(namespace, func(mgr manager.Manager) error {
			if err := mgr.AddMetricsServerExtraHandler(controller.ExplainPath, controller.ExplainHandler(b)); err != nil {
				return err
			}
			return b.SetupWithManager(mgr)
		})
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		tree := func() string {
			o, err := b.Explain(ctx, client.ObjectKeyFromObject(w))
			Expect(err).NotTo(HaveOccurred())
			return o.String()
		}
		Eventually(tree).WithTimeout(soon).Should(And(
			ContainSubstring("not ready"),
			ContainSubstring("because: World: ConfigMap input is missing (MissingUpstreamDependency, NoInput)"),
			ContainSubstring("nothing was applied: NoInput: ConfigMap input is missing"),
			ContainSubstring("/v1/ConfigMap "+namespace+"/input"),
			ContainSubstring("/v1/Secret all in "+namespace+" with labels of=w"),
			ContainSubstring("(a planned requeue)"),
		))

		Expect(c.Create(ctx, input)).To(Succeed())
		Eventually(tree).WithTimeout(soon).Should(And(
			ContainSubstring("Widget "+namespace+"/w (controller explained): ready"),
			ContainSubstring("triggered by create of ConfigMap "+namespace+"/input"),
			ContainSubstring("ConfigMap "+namespace+"/settings: nothing to do (UpToDate)"),
			ContainSubstring("last pass with a write"),
			ContainSubstring("ConfigMap "+namespace+"/settings: create (Missing)"),
			Not(ContainSubstring("because")), Not(ContainSubstring("hunter2")),
		))

		path := controller.ExplainPath + "?kind=widget&namespace=" + namespace + "&name=w"
		status, body := asked(address, path, "")
		Expect(status).To(Equal(http.StatusUnauthorized), body)
		status, body = asked(address, path, "Bearer me")
		Expect(status).To(Equal(http.StatusOK))
		Expect(body).To(Equal(tree()))
		_, body = asked(address, path+"&format=json", "Bearer me")
		Expect(body).To(ContainSubstring(`"controller": "explained"`))
		status, body = asked(address, controller.ExplainPath+"?kind=Gadget&name=x", "Bearer me")
		Expect(status).To(Equal(http.StatusNotFound))
		Expect(body).To(ContainSubstring("there are: Widget"))

		status, body = asked(address, controller.ExplainPath, "Bearer me")
		Expect(status).To(Equal(http.StatusOK))
		Expect(body).To(ContainSubstring("Widget " + namespace + "/w: Ready\n"))
		_, body = asked(address, controller.ExplainPath+"?state=NotReady", "Bearer me")
		Expect(body).To(BeEmpty())
		_, body = asked(address, controller.ExplainPath+"?format=html", "Bearer me")
		Expect(body).To(ContainSubstring(`<a href="?format=html&amp;kind=Widget.test.reconcilekit.dev&amp;name=w&amp;namespace=` + namespace + `">`))
		_, body = asked(address, path+"&format=html", "Bearer me")
		Expect(body).To(ContainSubstring("<li>ConfigMap " + namespace + "/settings: nothing to do (UpToDate)</li>"))

		Expect(c.Delete(ctx, w)).To(Succeed())
		Eventually(tree).WithTimeout(soon).Should(And(ContainSubstring("not found"), Not(ContainSubstring("last pass"))))
	})

	It("is an error before the setup, and is served only if that is configured", func(ctx context.Context) {
		b := controller.New("not-set-up", &probe{}).Options(settings()).Build()
		_, err := b.Explain(ctx, types.NamespacedName{Name: "w"})
		Expect(err).To(MatchError(ContainSubstring("call SetupWithManager first")))
		namespace, address := env.Namespace(GinkgoTB()), freeAddress()
		runs{metrics: server.Options{BindAddress: address}}.start(namespace, b.SetupWithManager)
		Eventually(func() int { status, _ := asked(address, "/metrics", ""); return status }).WithTimeout(soon).Should(Equal(http.StatusOK))
		status, _ := asked(address, controller.ExplainPath, "")
		Expect(status).To(Equal(http.StatusNotFound))
	})
})
