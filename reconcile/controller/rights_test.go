package controller_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/rights"
)

// rightful returns a controller that uses every declared permission: it reads a Secret, owns a ConfigMap and contributes to a ServiceAccount.
func rightful() (*controller.Controller, *probe) {
	p := &probe{
		fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
			secret := &corev1.Secret{}
			err := r.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: "s"}, secret)
			return world{err: client.IgnoreNotFound(err), names: []string{string(secret.Data["k"])}}
		},
		plan: func(o *widget.Widget, w world) (plan reconcile.PlanResult) {
			if o.Spec.Message != "" {
				cm := configMap(o.Namespace, "child", nil)
				cm.Data = map[string]string{"message": o.Spec.Message, "secret": w.names[0]}
				plan.Apply(cm)
			}
			plan.Contribute(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
				Namespace: o.Namespace, Name: "account", Annotations: map[string]string{"widget": o.Name},
			}})
			return plan
		},
	}
	b := controller.New("rightful", p).
		Owns(&corev1.ConfigMap{}).
		Reads(&corev1.Secret{}).
		Writes(&corev1.ServiceAccount{}, controller.FieldsOnly).
		Reads(gadget(), controller.Optional).
		Options(settings()).Build()
	return b, p
}

var _ = Describe("A controller with the derived permissions", Ordered, func() {
	var rules []rbacv1.PolicyRule
	BeforeAll(func() {
		b, _ := rightful()
		page, err := controller.NewPage("rightful", testScheme(GinkgoTB()), b)
		Expect(err).NotTo(HaveOccurred())
		page.LeaderElection = true
		rules = page.Rules()
	})

	It("can do everything that it declares", func(ctx context.Context) {
		Expect(live(ctx, rules, soon)).To(Succeed())
	})

	It("fails if any of them is missing", func(ctx context.Context) {
		if testing.Short() {
			Skip("takes half a minute")
		}
		const patience = 2 * time.Second
		spared := []string{}
		for i, rule := range rules {
			for _, verbs := range parts(rule.Verbs) {
				less := slices.Clone(rules)
				less[i].Verbs = slices.DeleteFunc(slices.Clone(rule.Verbs), func(v string) bool { return slices.Contains(verbs, v) })
				if len(less[i].Verbs) == 0 {
					less = slices.Delete(less, i, i+1)
				}
				if err := live(ctx, less, patience); err == nil {
					spared = append(spared, fmt.Sprint(verbs, rule.Resources))
				}
			}
		}
		Expect([]string{
			"[get] [configmaps]", "[get] [widgets]", // for an object that is not in the cache; used in the next spec
			"[patch] [events]",       // for a repeated event; used in the last spec
			"[update] [leases]",      // for the renewal, which happens after this test; used in the last spec
			"[list watch] [gadgets]", // for an optional kind, once it is installed
		}).To(ContainElements(spared))
	})
})

var _ = Describe("The permissions in the audit log", func() {
	It("are all used, also those for objects that are not in the cache", func(ctx context.Context) {
		b, _ := rightful()
		page, err := controller.NewPage("rightful", testScheme(GinkgoTB()), b)
		Expect(err).NotTo(HaveOccurred())
		granted := env.Rights(GinkgoTB(), page.Rules())
		var counted requests.Requests
		counted.Inject(rights.RefusedOnce())
		namespace, c := env.Namespace(GinkgoTB()), admin()
		Expect(c.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "account"}})).To(Succeed())
		runs{config: counted.Observe(granted.Config())}.start(namespace, b.SetupWithManager)
		for _, s := range life(c, namespace) {
			if s.what == "announce the leader" {
				continue
			}
			if s.do != nil {
				Expect(s.do(ctx)).To(Succeed(), s.what)
			}
			Eventually(s.until).WithContext(ctx).WithTimeout(time.Minute).Should(BeTrue(), s.what)
		}
		w := newWidget(namespace, "late")
		w.Spec.Message = "hello"
		granted.Without(GinkgoTB(), "update test.reconcilekit.dev/widgets/finalizers", func() { Expect(c.Create(ctx, w)).To(Succeed()) })
		granted.Check(GinkgoTB(), map[string]string{
			"list example.com/gadgets":   "the kind is optional, and not installed",
			"watch example.com/gadgets":  "the kind is optional, and not installed",
			"patch events.k8s.io/events": "for an event that repeats itself; used in the next spec",
		})
	})

	It("for events and leases are all used by two candidates that announce the same event twice", func(ctx context.Context) {
		granted := env.Rights(GinkgoTB(), dataflow.Page{LeaderElection: true}.Rules())
		namespace, c := env.Namespace(GinkgoTB()), admin()
		candidate := func(namespace string) manager.Manager {
			return runs{config: granted.Config(), leaders: true}.start(namespace, func(manager.Manager) error { return nil })
		}
		leader := candidate(namespace)
		Eventually(leader.Elected()).WithTimeout(time.Minute).Should(BeClosed())
		second := candidate(namespace)
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		log, err := env.AuditLog()
		Expect(err).NotTo(HaveOccurred())
		sent := func(verb, group, resource string) func() int {
			return func() int {
				entries, err := log.Entries(environment.User(granted.User()),
					environment.Asked(requests.Verb(verb), requests.Resource(group, resource)))
				Expect(err).NotTo(HaveOccurred())
				return len(entries)
			}
		}
		announce := func() {
			leader.GetEventRecorder("test").Eventf(w, nil, corev1.EventTypeNormal, "Same", "Test", "again")
		}
		announce()
		Eventually(sent("create", "events.k8s.io", "events")).WithTimeout(time.Minute).Should(Equal(1))
		announce()
		Eventually(sent("patch", "events.k8s.io", "events")).WithTimeout(time.Minute).Should(Equal(1))
		Eventually(sent("update", "coordination.k8s.io", "leases")).WithTimeout(time.Minute).Should(BeNumerically(">", 0))
		Eventually(sent("create", "", "events")).WithTimeout(time.Minute).Should(BeNumerically(">", 0))
		Expect(second.Elected()).NotTo(BeClosed(), "one lease has one holder")
		granted.Check(GinkgoTB(), nil)
	})
})

// parts splits verbs into sets that can be removed. list and watch are one set, because an informer with only one of them
// still works partly.
func parts(verbs []string) [][]string {
	var all [][]string
	for _, verb := range verbs {
		switch verb {
		case "list":
			all = append(all, []string{"list", "watch"})
		case "watch":
		default:
			all = append(all, []string{verb})
		}
	}
	return all
}

// live runs the steps of a widget's life with a controller that has only the rules.
func live(ctx context.Context, rules []rbacv1.PolicyRule, patience time.Duration) error {
	GinkgoHelper()
	namespace, c := env.Namespace(GinkgoTB()), admin()
	config := account(ctx, c, namespace, rules)
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	mgr, err := manager.New(config, manager.Options{
		Scheme: testScheme(GinkgoTB()), Metrics: server.Options{BindAddress: "0"}, Logger: logr.Discard(),
		Cache:          cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		LeaderElection: true, LeaderElectionID: "rightful", LeaderElectionNamespace: namespace,
		LeaseDuration: ptr.To(3 * time.Second), RenewDeadline: ptr.To(time.Second), RetryPeriod: ptr.To(100 * time.Millisecond),
		GracefulShutdownTimeout: ptr.To(time.Duration(0)),
	})
	Expect(err).NotTo(HaveOccurred())
	b, _ := rightful()
	Expect(b.SetupWithManager(mgr)).To(Succeed())
	go func() {
		defer close(done)
		_ = mgr.Start(ctx)
	}()
	defer func() {
		cancel()
		<-done
	}()
	for _, s := range life(c, namespace) {
		if s.do != nil {
			Expect(s.do(ctx)).To(Succeed(), s.what)
		}
		err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, s.until)
		if err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
	}
	return nil
}

// account makes a service account with the rules.
func account(ctx context.Context, c client.Client, namespace string, rules []rbacv1.PolicyRule) *rest.Config {
	GinkgoHelper()
	name := metav1.ObjectMeta{Name: namespace}
	Expect(c.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "account"}})).To(Succeed())
	Expect(c.Create(ctx, &rbacv1.ClusterRole{ObjectMeta: name, Rules: rules})).To(Succeed())
	Expect(c.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: name,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: namespace},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "account"}},
	})).To(Succeed())
	config, err := env.ServiceAccountConfig(ctx, namespace, "account")
	Expect(err).NotTo(HaveOccurred())
	return config
}

// scene is one step: a change, and the expected reaction of the controller.
type scene struct {
	what  string
	do    func(ctx context.Context) error
	until func(ctx context.Context) (bool, error)
}

func life(c client.Client, namespace string) []scene {
	w := newWidget(namespace, "w")
	w.Spec.Message = "hello"
	child := configMap(namespace, "child", nil)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "account"}}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "s"}, StringData: map[string]string{"k": "v"}}
	has := func(key, value string) func(context.Context) (bool, error) {
		return func(ctx context.Context) (bool, error) {
			err := c.Get(ctx, client.ObjectKeyFromObject(child), child)
			return err == nil && child.Data[key] == value, client.IgnoreNotFound(err)
		}
	}
	gone := func(object client.Object) func(context.Context) (bool, error) {
		return func(ctx context.Context) (bool, error) {
			err := c.Get(ctx, client.ObjectKeyFromObject(object), object)
			return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
		}
	}
	update := func(message string) func(context.Context) error {
		return func(ctx context.Context) error {
			return change(ctx, c, w, func(w *widget.Widget) { w.Spec.Message = message })
		}
	}
	return []scene{
		{"apply a child", func(ctx context.Context) error { return c.Create(ctx, w) }, has("message", "hello")},
		{"contribute", nil, func(ctx context.Context) (bool, error) {
			err := c.Get(ctx, client.ObjectKeyFromObject(account), account)
			return account.Annotations["widget"] == "w", err
		}},
		{"write the status", nil, func(ctx context.Context) (bool, error) {
			err := c.Get(ctx, client.ObjectKeyFromObject(w), w)
			return len(w.Status.Conditions) > 0 && w.Status.State == "Ready", err
		}},
		{"announce", nil, func(ctx context.Context) (bool, error) {
			list := &eventsv1.EventList{}
			err := c.List(ctx, list, client.InNamespace(namespace))
			return slices.ContainsFunc(list.Items, func(e eventsv1.Event) bool { return e.Regarding.Name == "w" }), err
		}},
		{"announce the leader", nil, func(ctx context.Context) (bool, error) {
			list := &corev1.EventList{}
			err := c.List(ctx, list, client.InNamespace(namespace))
			return slices.ContainsFunc(list.Items, func(e corev1.Event) bool { return e.Reason == "LeaderElection" }), err
		}},
		{"notice a read", func(ctx context.Context) error { return c.Create(ctx, secret) }, has("secret", "v")},
		{"follow the spec", update("bye"), has("message", "bye")},
		{"prune", update(""), gone(child)},
		{"finalize", func(ctx context.Context) error { return c.Delete(ctx, w) }, gone(w)},
	}
}
