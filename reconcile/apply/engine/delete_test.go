package engine_test

import (
	"errors"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

var _ = Describe("The engine", func() {
	It("deletes an object once if the plan deletes it", func() {
		w := newWorld()
		w.converge(one(cm("1")))
		gone := func() apply.Plan {
			var s apply.Plan
			s.Delete(configMap("cm", ""))
			return s
		}
		result, sent := w.pass(gone())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.Objects[0].Outcome).To(BeEquivalentTo(apply.OutcomeDeleted))
		Expect(sent).To(HaveLen(2), "a live listing, for the kind is not planned any more, and the delete: %v", sent)
		_, sent = w.pass(gone())
		Expect(sent).To(HaveLen(2), "a live listing that confirms it, and the inventory: %v", sent)
		w.converge(gone)
	})

	It("deletes only the version that was read if the plan requires it", func() {
		w := newWorld()
		w.converge(one(cm("1")))
		read := configMap("cm", "")
		Expect(w.client.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "cm"}, read)).To(Succeed())
		w.edit(configMap("cm", ""), types.MergePatchType, `{"data":{"more":"1"}}`, "x")
		var s apply.Plan
		s.Apply(configMap("rest", "1"))
		s.Delete(read, apply.MatchResourceVersion())
		s.PruneBlocked = errors.New("not now")
		result, _ := w.pass(s)
		Expect(apierrors.IsConflict(result.Err())).To(BeTrue())
		Expect(w.names()).To(ContainElement("cm"))
	})

	It("does not delete an object that replaced the planned one", func() {
		w := newWorld()
		old := configMap("cm", "")
		old.Namespace, old.UID = w.namespace, "gone"
		w.converge(one(cm("1")))
		var s apply.Plan
		s.Delete(old)
		s.PruneBlocked = errors.New("not now")
		result, sent := w.pass(s)
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(sent).To(BeEmpty())
	})

	It("does not delete an object without the labels that the plan requires", func() {
		w := newWorld()
		labelled := configMap("ours", "")
		labelled.Namespace, labelled.Labels = w.namespace, map[string]string{"by": "us", "more": "1"}
		Expect(w.client.Create(w.ctx, labelled)).To(Succeed())
		foreign := configMap("theirs", "")
		foreign.Namespace, foreign.Labels = w.namespace, map[string]string{"by": "them"}
		Expect(w.client.Create(w.ctx, foreign)).To(Succeed())
		plan := func() apply.Plan {
			var s apply.Plan
			for _, name := range []string{"ours", "theirs"} {
				s.Delete(configMap(name, ""), apply.MatchLabels{"by": "us"})
			}
			return s
		}
		w.converge(plan)
		Expect(w.client.Get(w.ctx, client.ObjectKeyFromObject(foreign), foreign)).To(Succeed())
		Expect(apierrors.IsNotFound(w.client.Get(w.ctx, client.ObjectKeyFromObject(labelled), labelled))).To(BeTrue())
	})

	It("deletes an object that another owner controls only by its UID", func() {
		w := newWorld()
		other := w.newOwner("other")
		create := func() *corev1.ConfigMap {
			GinkgoHelper()
			o := configMap("theirs", "1")
			o.Namespace = w.namespace
			Expect(controllerutil.SetControllerReference(other, o, scheme)).To(Succeed())
			Expect(w.admin.Create(w.ctx, o)).To(Succeed())
			w.syncedObject(o)
			return o
		}
		former := create()
		plan := func(opts ...apply.DeletionOption) (s apply.Plan) {
			s.Delete(configMap("theirs", ""), opts...)
			return s
		}
		for _, opts := range [][]apply.DeletionOption{nil, {apply.Uncontrolled()}} {
			result, sent := w.pass(plan(opts...))
			Expect(result.Err()).To(MatchError(And(ContainSubstring("is controlled by Widget other"), ContainSubstring("apply.ControlledByAnother"))))
			Expect(writes(sent)).To(BeEmpty())
		}

		By("replacing the object before the decision")
		Expect(w.admin.Delete(w.ctx, former)).To(Succeed())
		replaced := create()
		result, sent := w.pass(plan(apply.ControlledByAnother(former.UID)))
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(writes(sent)).To(BeEmpty())

		By("replacing the object after the decision")
		w.requests.fail = func(_ int, r *http.Request) error {
			if r.Method != http.MethodDelete {
				return nil
			}
			w.requests.fail = nil
			if err := w.admin.Delete(w.ctx, replaced); err != nil {
				return err
			}
			again := configMap("theirs", "1")
			again.Namespace, again.OwnerReferences = w.namespace, replaced.OwnerReferences
			return w.admin.Create(w.ctx, again)
		}
		result, _ = w.pass(plan(apply.ControlledByAnother(replaced.UID)))
		Expect(result.Err()).To(MatchError(ContainSubstring("was replaced")))
		last := configMap("theirs", "")
		w.syncedObject(last)
		last.Namespace = w.namespace
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(last), last)).To(Succeed())

		result, _ = w.pass(plan(apply.ControlledByAnother(last.UID)))
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.Objects[0].Outcome).To(Equal(apply.OutcomeDeleted))
		Expect(w.exists(configMap("theirs", ""))).To(BeFalse())
	})

	immutable := func(class string) func() client.Object {
		return func() client.Object {
			return &corev1.Secret{ObjectMeta: meta("typed"), Type: corev1.SecretType(class)}
		}
	}

	It("reports a change of an immutable field that the plan must not recreate, without repeated requests", func() {
		w := newWorld()
		w.converge(one(immutable("a")))
		result, sent := w.pass(one(immutable("b"))())
		Expect(apierrors.IsInvalid(result.Err())).To(BeTrue())
		Expect(sent).To(HaveLen(3), "the refused change, the dry run of a new object and a look at the live one")
		result, sent = w.pass(one(immutable("b"))())
		Expect(apierrors.IsInvalid(result.Err())).To(BeTrue())
		Expect(sent).To(BeEmpty())
		Expect(result.RequeueAfter).NotTo(BeZero())
	})

	It("recreates an object in two reconciliations if the plan allows it", func() {
		w := newWorld()
		w.converge(one(immutable("a")))
		plan := one(immutable("b"), apply.Recreate())
		result, sent := w.pass(plan())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.Objects[0].Outcome).To(BeEquivalentTo(apply.OutcomeDeleted))
		Expect(result.Objects[0].Unobserved).To(BeTrue(), "an owner is not ready without the child")
		Expect(sent).To(HaveLen(6), "the refused change; the dry run of a new object and a look at the live one, for defaults and for the recreation; the delete")
		key, stored := client.ObjectKey{Namespace: w.namespace, Name: "typed"}, &corev1.Secret{}
		// While the cache contains the deleted object, a reconciliation sends nothing.
		Eventually(func() bool { return apierrors.IsNotFound(w.client.Get(w.ctx, key, &corev1.Secret{})) }).Should(BeTrue())
		w.converge(plan)
		Expect(w.admin.Get(w.ctx, key, stored)).To(Succeed())
		Expect(string(stored.Type)).To(Equal("b"))
	})

	It("recreates an object only once if the response is lost", func() {
		w := newWorld()
		runs := func(argument string, options ...apply.ChildOption) func() apply.Plan {
			return one(func() client.Object {
				o := job("run").(*batchv1.Job)
				o.Spec.Template.Spec.Containers[0].Args = []string{argument}
				return o
			}, options...)
		}
		w.converge(runs("a"))
		plan := runs("b", apply.Recreate())
		result, _ := w.pass(plan())
		Expect(result.Objects[0].Outcome).To(BeEquivalentTo(apply.OutcomeDeleted))
		Eventually(func() error {
			return w.client.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "run"}, &batchv1.Job{})
		}).
			Should(Satisfy(apierrors.IsNotFound))

		w.requests.lose = func(r *http.Request) bool {
			return r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/jobs/run")
		}
		result, _ = w.pass(plan())
		Expect(result.Err()).To(HaveOccurred())
		w.requests.lose = nil
		Eventually(func() error {
			return w.client.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "run"}, &batchv1.Job{})
		}).
			Should(Succeed())
		w.clock.Step(time.Hour)
		more := plan()
		more.Apply(configMap("more", "")) // makes the engine look for children that left the plan
		result, sent := w.pass(more)
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.PruneBlocked).NotTo(HaveOccurred())
		Expect(writes(sent)).NotTo(ContainElement(HavePrefix("DELETE ")))
	})

	It("creates an object once and does not change it afterwards", func() {
		w := newWorld()
		once := func(value string) func() apply.Plan {
			return func() apply.Plan {
				var s apply.Plan
				s.Apply(configMap("once", value), apply.Once)
				return s
			}
		}
		w.converge(once("1"))
		w.quiet(2, once("2"))
		w.restart()
		w.quiet(2, once("3"))
		stored := configMap("once", "")
		stored.Namespace = w.namespace
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(stored), stored)).To(Succeed())
		Expect(stored.Data["value"]).To(Equal("1"))
		w.pass(apply.Plan{})
		Expect(w.names()).To(BeEmpty())
	})
})
