package controller_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/external"
)

// store is a fake external system that stores a text for each key.
type store struct {
	before func(verb, key string) error // runs before each call; nil accepts every call

	mu      sync.Mutex
	rows    map[string]string
	calls   map[string]int // by verb
	changes chan string
}

func newStore() *store {
	return &store{rows: map[string]string{}, calls: map[string]int{}, changes: make(chan string)}
}

func (s *store) call(verb, key string) error {
	s.mu.Lock()
	s.calls[verb]++
	before := s.before
	s.mu.Unlock()
	if before != nil {
		return before(verb, key)
	}
	return nil
}

func (s *store) Observe(_ context.Context, key string) (string, error) {
	if err := s.call(external.VerbObserve, key); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	row, found := s.rows[key]
	if !found {
		return "", fmt.Errorf("row %s: %w", key, external.ErrNotFound)
	}
	return row, nil
}

func (s *store) Ensure(_ context.Context, key, row string) (string, error) {
	if err := s.call(external.VerbEnsure, key); err != nil {
		return "", err
	}
	s.set(key, row)
	return row, nil
}

func (s *store) Remove(_ context.Context, key string) error {
	if err := s.call(external.VerbRemove, key); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.rows, key)
	return nil
}

func (*store) UpToDate(want, observed string) bool { return want == observed }

func (s *store) Watch(ctx context.Context, opened func(), changed func(key string)) error {
	opened()
	for {
		select {
		case <-ctx.Done():
			return nil
		case key := <-s.changes:
			if key == "" {
				return errors.New("the stream is broken")
			}
			changed(key)
		}
	}
}

func (s *store) set(key, row string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows[key] = row
}

func (s *store) meets(before func(verb, key string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = before
}

func (s *store) keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.rows))
}

func (s *store) row(key string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rows[key]
}

func (s *store) called(verb string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[verb]
}

// withRows plans a row for each word of an annotation of the widget, and a ConfigMap.
func withRows(rows *external.Kind[string, string], poll time.Duration) *probe {
	keys := func(owner *widget.Widget) []string { return strings.Fields(owner.Annotations["rows"]) }
	return &probe{
		fetch: func(ctx context.Context, r reconcile.Reader, owner *widget.Widget) (w world) {
			for _, key := range keys(owner) {
				if f := rows.Observe(ctx, r, key); f.HasError() && !f.IsNotFound() {
					w.err = errors.Join(w.err, f.Error)
				}
			}
			return w
		},
		plan: func(owner *widget.Widget, _ world) (plan reconcile.PlanResult) {
			for _, key := range keys(owner) {
				rows.Ensure(&plan, key, "row of "+owner.Name)
			}
			plan.Apply(configMap(owner.Namespace, owner.Name, nil))
			plan.RequeueAfter = poll
			return plan
		},
	}
}

// claiming stores the claims of external resources in a namespace.
func claiming(namespace string) controller.Options {
	o := settings()
	o.ClaimNamespace = namespace
	return o
}

var _ = Describe("An external resource", func() {
	var (
		namespace string
		c         client.Client
		outside   *store
		rows      *external.Kind[string, string]
	)
	BeforeEach(func() {
		namespace, c, outside = env.Namespace(GinkgoTB()), admin(), newStore()
		rows = external.New("Row", outside, external.Options{Rewatch: time.Millisecond, Open: 100 * time.Millisecond})
	})
	start := func(p *probe, wrap func(http.RoundTripper) http.RoundTripper) {
		runs{wrap: wrap}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("rows", p).Owns(&corev1.ConfigMap{}).External(rows).Options(claiming(namespace)).Build().SetupWithManager(mgr)
		})
	}
	create := func(ctx context.Context, keys string) *widget.Widget {
		owner := newWidget(namespace, "shop")
		owner.Annotations = map[string]string{"rows": keys}
		Expect(c.Create(ctx, owner)).To(Succeed())
		return owner
	}
	plan := func(ctx context.Context, owner *widget.Widget, keys string) {
		Expect(change(ctx, c, owner, func(o *widget.Widget) { o.Annotations["rows"] = keys })).To(Succeed())
	}

	It("can be counted by a scrape while a controller is set up", func() {
		done, scraped := make(chan struct{}), make(chan error, 1)
		go func() {
			for {
				if _, err := metrics.Registry.Gather(); err != nil {
					scraped <- err
					return
				}
				select {
				case <-done:
					scraped <- nil
					return
				default:
				}
			}
		}()
		for range 5 {
			start(withRows(rows, 0), nil)
		}
		close(done)
		Expect(<-scraped).NotTo(HaveOccurred())
	})

	It("is recorded before it is created, repaired, and removed when it leaves the plan or its owner is deleted", func(ctx context.Context) {
		outside.meets(func(verb, key string) error {
			if verb != external.VerbEnsure {
				return nil
			}
			live := &widget.Widget{}
			if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "shop"}, live); err != nil {
				return err
			}
			for _, note := range live.Annotations {
				if strings.Contains(note, `"Row":[`) && strings.Contains(note, key) && len(live.Finalizers) > 0 {
					return nil
				}
			}
			return fmt.Errorf("row %s is not recorded: %v %v", key, live.Annotations, live.Finalizers)
		})
		counter := &sent{}
		p := withRows(rows, 0)
		start(p, counter.wrap)
		owner := create(ctx, "a b")
		Eventually(outside.keys).Should(Equal([]string{"a", "b"}))
		passes := p.settled(ctx, owner.Name)

		ensured, counted := outside.called(external.VerbEnsure), counter.count()
		Expect(ensured).To(Equal(2))
		outside.changes <- "a"
		outside.changes <- "of another owner"
		Eventually(p.count).WithArguments(owner.Name).Should(Equal(passes + 1))
		Expect(outside.called(external.VerbEnsure)).To(Equal(ensured), "the row already matches")
		Expect(counter.count()).To(Equal(counted), "nothing is written")

		outside.set("b", "drift")
		outside.changes <- "b"
		Eventually(outside.row).WithArguments("b").Should(Equal("row of shop"))
		outside.set("b", "drift without an event")
		outside.changes <- ""
		Eventually(outside.row).WithArguments("b").Should(Equal("row of shop"))

		plan(ctx, owner, "b")
		Eventually(outside.keys).Should(Equal([]string{"b"}))
		Expect(c.Delete(ctx, owner)).To(Succeed())
		Eventually(outside.keys).Should(BeEmpty())
		Eventually(func() bool { return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(owner), owner)) }).Should(BeTrue())
	})

	It("causes no write after a restart, even if its owner has no children", func(ctx context.Context) {
		alone := func() *probe {
			p := withRows(rows, 0)
			p.plan = func(owner *widget.Widget, _ world) (plan reconcile.PlanResult) {
				rows.Ensure(&plan, "a", "row of "+owner.Name)
				return plan
			}
			return p
		}
		first := runs{}.manager(namespace)
		Expect(controller.New("rows", alone()).Owns(&corev1.ConfigMap{}).External(rows).Options(claiming(namespace)).Build().SetupWithManager(first)).To(Succeed())
		running, stop := context.WithCancel(ctx)
		stopped := make(chan error, 1)
		go func() { stopped <- first.Start(running) }()
		owner := create(ctx, "a")
		Eventually(outside.keys).Should(HaveLen(1))
		Eventually(func() string { return readyMessage(ctx, c, owner) }).Should(ContainSubstring("Ready: True"))
		stop()
		Eventually(stopped).Should(Receive())
		Expect(c.Get(ctx, client.ObjectKeyFromObject(owner), owner)).To(Succeed())
		before := owner.ResourceVersion

		again := alone()
		start(again, nil)
		again.settled(ctx, owner.Name)
		Expect(c.Get(ctx, client.ObjectKeyFromObject(owner), owner)).To(Succeed())
		Expect(owner.ResourceVersion).To(Equal(before), "%v %v", owner.Annotations, owner.ManagedFields)
	})

	It("is removed after a restart if it left the plan, and delays the deletion of its owner until then", func(ctx context.Context) {
		first := runs{}.manager(namespace)
		Expect(controller.New("rows", withRows(rows, 0)).Owns(&corev1.ConfigMap{}).External(rows).Options(claiming(namespace)).Build().SetupWithManager(first)).To(Succeed())
		running, stop := context.WithCancel(ctx)
		stopped := make(chan error, 1)
		go func() { stopped <- first.Start(running) }()
		owner := create(ctx, "a b c")
		Eventually(outside.keys).Should(HaveLen(3))
		stop()
		Eventually(stopped).Should(Receive())

		plan(ctx, owner, "c")
		outside.meets(func(verb, _ string) error {
			if verb == external.VerbRemove {
				return &net.OpError{Op: "dial", Err: errors.New("connection refused")}
			}
			return nil
		})
		start(withRows(rows, 0), nil)
		Eventually(outside.called).WithArguments(external.VerbRemove).Should(BeNumerically(">", 2))
		Expect(c.Delete(ctx, owner)).To(Succeed())
		Consistently(func() error { return c.Get(ctx, client.ObjectKeyFromObject(owner), owner) }).WithTimeout(pause).Should(Succeed())
		outside.meets(nil)
		Eventually(func() bool { return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(owner), owner)) }).Should(BeTrue())
		Expect(outside.keys()).To(BeEmpty())
	})

	It("is observed less often than the poll interval while its system is unavailable, and again afterwards", func(ctx context.Context) {
		outside.meets(func(string, string) error { return &net.OpError{Op: "dial", Err: errors.New("connection refused")} })
		p := withRows(rows, 5*time.Millisecond)
		start(p, nil)
		owner := create(ctx, "a")
		Eventually(outside.called).WithArguments(external.VerbObserve).Should(BeNumerically(">=", 5))
		before := outside.called(external.VerbObserve)
		time.Sleep(2 * time.Second) // 400 poll intervals
		Expect(outside.called(external.VerbObserve) - before).To(BeNumerically("<", 40))
		Expect(c.Get(ctx, client.ObjectKeyFromObject(owner), owner)).To(Succeed())
		Expect(fmt.Sprint(owner.Status)).To(ContainSubstring("connection refused"))
		outside.meets(nil)
		Eventually(outside.keys).Should(Equal([]string{"a"}))
	})

	It("is not removed for an owner with a forged annotation under the controller's field manager", func(ctx context.Context) {
		p := withRows(rows, 0)
		start(p, nil)
		owner := create(ctx, "a")
		Eventually(outside.keys).Should(Equal([]string{"a"}))
		p.settled(ctx, owner.Name)
		Expect(c.Get(ctx, client.ObjectKeyFromObject(owner), owner)).To(Succeed())
		forged := &unstructured.Unstructured{}
		forged.SetGroupVersionKind(widget.GroupVersion.WithKind("Widget"))
		forged.SetNamespace(namespace)
		forged.SetName("forger")
		notes := map[string]string{}
		for name, note := range owner.Annotations {
			if strings.Contains(note, `"Row":[`) {
				notes[name] = `{"things":{"Row":["a"]}}`
			}
		}
		Expect(notes).To(HaveLen(1))
		forged.SetAnnotations(notes)
		Expect(c.Create(ctx, newWidget(namespace, "forger"))).To(Succeed())
		Expect(c.Apply(ctx, client.ApplyConfigurationFromUnstructured(forged), client.FieldOwner("rows:metadata"), client.ForceOwnership)).To(Succeed())
		p.settled(ctx, "forger")
		forger := newWidget(namespace, "forger")
		Expect(c.Delete(ctx, forger)).To(Succeed())
		Eventually(func() bool { return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(forger), forger)) }).Should(BeTrue())
		Expect(outside.keys()).To(Equal([]string{"a"}))
		Expect(outside.called(external.VerbRemove)).To(BeZero())
	})

	It("is removed with its owner if annotations and managedFields were lost while the operator was down", func(ctx context.Context) {
		first := runs{}.manager(namespace)
		Expect(controller.New("rows", withRows(rows, 0)).Owns(&corev1.ConfigMap{}).External(rows).Options(claiming(namespace)).Build().SetupWithManager(first)).To(Succeed())
		running, stop := context.WithCancel(ctx)
		stopped := make(chan error, 1)
		go func() { stopped <- first.Start(running) }()
		owner := create(ctx, "a b")
		Eventually(outside.keys).Should(HaveLen(2))
		stop()
		Eventually(stopped).Should(Receive())
		Expect(change(ctx, c, owner, func(o *widget.Widget) {
			o.Annotations, o.ManagedFields = map[string]string{"rows": "b"}, []metav1.ManagedFieldsEntry{{}}
		})).To(Succeed())
		start(withRows(rows, 0), nil)
		Eventually(outside.keys).Should(Equal([]string{"b"}))
		Expect(c.Delete(ctx, owner)).To(Succeed())
		Eventually(func() bool { return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(owner), owner)) }).Should(BeTrue())
		Expect(outside.keys()).To(BeEmpty())
		claims := &corev1.ConfigMapList{}
		Eventually(func() int {
			Expect(c.List(ctx, claims, client.InNamespace(namespace), client.HasLabels{"reconcilekit.dev/external-claim"})).To(Succeed())
			return len(claims.Items)
		}).Should(BeZero())
	})

	It("must be declared, and not on a singleton", func(ctx context.Context) {
		p := withRows(rows, 0)
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("undeclared", p).Owns(&corev1.ConfigMap{}).Options(claiming(namespace)).Build().SetupWithManager(mgr)
		})
		owner := create(ctx, "a")
		Eventually(func() string {
			Expect(c.Get(ctx, client.ObjectKeyFromObject(owner), owner)).To(Succeed())
			return fmt.Sprint(owner.Status)
		}).Should(ContainSubstring("add External(row)"))
		mgr := runs{}.manager(namespace)
		err := controller.NewSingleton("group", shelf{namespace: namespace}).Owns(&corev1.ConfigMap{}).External(rows).
			Options(claiming(namespace)).Build().SetupWithManager(mgr)
		Expect(err).To(MatchError(ContainSubstring("a group has no object")))
		page, err := controller.New("rows", p).External(rows).Build().Describe(testScheme(GinkgoTB()))
		Expect(err).NotTo(HaveOccurred())
		Expect(page.Markdown()).To(MatchRegexp(`\| rows \| Row \| watched \| .*external_test.go:`))
	})
})

// sent counts requests other than watches.
type sent struct {
	mu sync.Mutex
	n  int
}

func (s *sent) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

func (s *sent) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.URL.Query().Get("watch") == "" {
			s.mu.Lock()
			s.n++
			s.mu.Unlock()
		}
		return next.RoundTrip(r)
	})
}
