package controller_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/pipeline"
	"github.com/reconcilekit/reconcilekit/reconcile/preview"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
)

// done records the writes of reconciliations for each owner, in the form of a preview.
type done struct {
	mu     sync.Mutex
	writes map[string][]preview.Change
}

func (d *done) PhaseStart(ctx context.Context, _ reconcile.Phase) context.Context { return ctx }

func (d *done) PhaseDone(context.Context, reconcile.Phase, time.Duration, error) {}

func (d *done) PassDone(_ context.Context, report reconcile.Report) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range report.Applied.Objects {
		if o.Wrote() {
			owner := report.Request.String()
			d.writes[owner] = append(d.writes[owner], changed(o.GVK.Kind+" "+o.Key.String(), string(o.Verb), string(o.Reason), o.Fields...))
		}
	}
}

func (d *done) snapshot() map[string][]preview.Change {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.writes)
}

// release is one version of an operator: its plan for a widget.
func release(image string, secret bool) *probe {
	return &probe{plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
		labels := map[string]string{"of": o.Name}
		web := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name + "-web"}}
		web.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		web.Spec.Template.Labels = labels
		web.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web", Image: image}}
		plan.Apply(web)
		plan.Apply(configMap(o.Namespace, o.Name+"-settings", nil))
		key := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name + "-key"}}
		key.Data = map[string][]byte{"key": []byte("hunter2-" + image)}
		if secret {
			plan.Apply(key)
		} else {
			plan.Apply(configMap(o.Namespace, o.Name+"-more", nil))
		}
		return plan
	}}
}

var _ = Describe("A preview", func() {
	It("of the next version predicts what that version does, needs no write permission and sends no write", func(ctx context.Context) {
		const name = "previewed"
		namespace, c := env.Namespace(GinkgoTB()), admin()
		build := func(p *probe, observer reconcile.Observer) *controller.Controller {
			options := settings()
			options.Observer = observer
			return controller.New(name, p).Owns(&appsv1.Deployment{}).Owns(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Options(options).Build()
		}
		first := release("web:1", true)
		mgr := runs{}.manager(namespace)
		Expect(build(first, nil).SetupWithManager(mgr)).To(Succeed())
		running, stop := context.WithCancel(ctx)
		stopped := make(chan error, 1)
		go func() { stopped <- mgr.Start(running) }()
		for _, owner := range []string{"a", "b"} {
			Expect(c.Create(ctx, newWidget(namespace, owner))).To(Succeed())
		}
		paused := newWidget(namespace, "paused")
		paused.Annotations = map[string]string{pipeline.DefaultPauseAnnotation: "true"}
		Expect(c.Create(ctx, paused)).To(Succeed())
		first.settled(ctx, "a")
		first.settled(ctx, "b")

		counted := &requests.Requests{}
		config := env.Rights(GinkgoTB(), []rbacv1.PolicyRule{
			{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}},
		}).Config()
		config.Wrap(counted.RoundTripper)
		look := func(p *probe) preview.Report {
			GinkgoHelper()
			report, err := build(p, nil).Preview(ctx, config, testScheme(GinkgoTB()),
				controller.PreviewOptions{Namespaces: []string{namespace}})
			Expect(err).NotTo(HaveOccurred())
			return report
		}
		same := look(release("web:1", true))
		Expect(same.Changes()).To(BeFalse(), same.Diff())
		report := look(release("web:2", false))
		Expect(counted.Snapshot().Writes()).To(BeEmpty())
		Expect(counted.Snapshot()).NotTo(BeEmpty())

		Expect(report.Changes()).To(BeTrue())
		diff := report.Diff()
		Expect(diff).To(And(
			ContainSubstring("update Deployment "+namespace+"/a-web (Differs, would restart)"),
			ContainSubstring(`.image: "web:1" -> "web:2"`),
			ContainSubstring("create ConfigMap "+namespace+"/a-more (Missing)"),
			ContainSubstring("prune Secret "+namespace+"/a-key (NotPlanned)"),
			ContainSubstring("paused: no changes"),
			Not(ContainSubstring("hunter2")), Not(ContainSubstring("aHVudGVy")),
		))
		Expect(report.Table()).To(And(ContainSubstring("would restart"), ContainSubstring("Widget "+namespace+"/b")))

		stop()
		Eventually(stopped).WithTimeout(soon).Should(Receive(BeNil()))
		second, did := release("web:2", false), &done{writes: map[string][]preview.Change{}}
		runs{}.start(namespace, build(second, did).SetupWithManager)
		second.settled(ctx, "a")
		second.settled(ctx, "b")
		foreseen := map[string][]preview.Change{}
		for _, o := range report.Owners {
			for _, c := range o.Changes {
				if c.Verb != "record" {
					foreseen[o.Name] = append(foreseen[o.Name], foretold(c))
				}
			}
		}
		Expect(slices.Sorted(maps.Keys(foreseen))).To(Equal([]string{namespace + "/a", namespace + "/b"}))
		Expect(did.snapshot()).To(Equal(foreseen))
	})

	It("names kinds that it has no permission to read", func(ctx context.Context) {
		b := controller.New("blind", release("web:1", true)).Owns(&appsv1.Deployment{}).Owns(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).
			Options(settings()).Build()
		config := env.Rights(GinkgoTB(), rightsBut("secrets", "get")).Config()
		_, err := controller.Preview(ctx, config, testScheme(GinkgoTB()), controller.PreviewOptions{SyncTimeout: 5 * time.Second}, b)
		Expect(err).To(MatchError(And(ContainSubstring("/v1/Secret"), ContainSubstring("is forbidden: User"))))
	})
})

// changed returns a write in the form of a preview, with the paths of the fields that an update changes.
func changed(object, verb, reason string, fields ...apply.FieldChange) preview.Change {
	c := preview.Change{Object: object, Verb: verb, Reason: reason}
	for _, f := range fields {
		c.Fields = append(c.Fields, preview.Field{Path: f.Path})
	}
	return foretold(c)
}

// foretold removes from a change what a reconciliation does not report: values, and the fields of created objects.
func foretold(c preview.Change) preview.Change {
	c.Restart = false
	paths := c.Fields
	if c.Fields = nil; c.Verb == string(apply.VerbUpdate) {
		for _, f := range paths {
			c.Fields = append(c.Fields, preview.Field{Path: f.Path})
		}
	}
	return c
}
