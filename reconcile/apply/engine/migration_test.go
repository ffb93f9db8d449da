package engine_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// oldOperator creates the children like an operator without the library, with
// CreateOrUpdate and the field manager of its binary.
const oldOperator = "shop-operator"

func (w *world) oldOperator(c client.Client) []client.Object {
	GinkgoHelper()
	labels := map[string]string{"app": "web"}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: w.namespace}}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: w.namespace}}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: w.namespace}}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: w.namespace}}
	for object, change := range map[client.Object]func(){
		config: func() {
			config.Labels, config.Data = map[string]string{"app": "web", "made-by": "hand"}, map[string]string{"color": "green", "old": "1"}
		},
		secret: func() { secret.StringData = map[string]string{"token": "hush"} },
		service: func() {
			service.Spec.Selector = labels
			service.Spec.Ports = []corev1.ServicePort{
				{Name: "http", Port: 80, TargetPort: intstr.FromString("http")}, {Name: "debug", Port: 8080, TargetPort: intstr.FromInt32(8080)},
			}
		},
		deployment: func() {
			deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
			deployment.Spec.Template.Labels = labels
			deployment.Spec.Template.Spec.Containers = []corev1.Container{{
				Name: "web", Image: "web:1", Args: []string{"--old"}, Env: []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "OLD", Value: "1"}},
			}}
		},
	} {
		_, err := controllerutil.CreateOrUpdate(w.ctx, c, object, func() error {
			change()
			return controllerutil.SetControllerReference(w.owner, object, scheme)
		})
		Expect(err).NotTo(HaveOccurred())
	}
	return []client.Object{config, secret, service, deployment}
}

// newPlan plans the same children, without the fields and objects named old, manual or debug.
func newPlan() apply.Plan {
	labels := map[string]string{"app": "web"}
	var plan apply.Plan
	plan.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: labels}, Data: map[string]string{"color": "green"}})
	plan.Apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "web"}, StringData: map[string]string{"token": "hush"}})
	plan.Apply(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{
		Selector: labels, Ports: []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromString("http")}},
	}})
	plan.Apply(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "web", Image: "web:1", Env: []corev1.EnvVar{{Name: "A", Value: "1"}},
		}}}},
	}})
	return plan
}

var _ = Describe("An operator that was written with CreateOrUpdate", func() {
	var (
		w      *world
		before []client.Object
	)
	managers := func(o client.Object) (names []string) {
		Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
		for _, e := range o.GetManagedFields() {
			if e.Subresource == "" {
				names = append(names, e.Manager+" "+string(e.Operation))
			}
		}
		return names
	}
	migrate := func(former ...string) {
		w = newWorld(func(w *world) { w.options.FormerManagers = former })
		before = w.oldOperator(client.WithFieldOwner(w.admin, oldOperator))
		for _, o := range before {
			w.syncedObject(o)
		}
	}
	uids := func() (out []types.UID) {
		for _, o := range before {
			current := o.DeepCopyObject().(client.Object)
			Expect(w.admin.Get(w.ctx, client.ObjectKeyFromObject(o), current)).To(Succeed())
			out = append(out, current.GetUID())
		}
		return out
	}

	It("leaves no fields behind if its field manager is declared", func() {
		migrate(oldOperator)
		want := uids()
		result, sent := w.pass(newPlan())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(slices.ContainsFunc(sent, func(r string) bool { return strings.HasPrefix(r, "DELETE") })).To(BeFalse())
		w.converge(newPlan)
		Expect(uids()).To(Equal(want), "nothing is recreated")
		for _, o := range before {
			Expect(managers(o)).To(ConsistOf(manager+" Apply"), "%T", o)
		}
		config, service, deployment := before[0].(*corev1.ConfigMap), before[2].(*corev1.Service), before[3].(*appsv1.Deployment)
		Expect(config.Data).To(Equal(map[string]string{"color": "green"}))
		Expect(config.Labels).NotTo(HaveKey("made-by"))
		Expect(service.Spec.Ports).To(HaveLen(1))
		Expect(deployment.Spec.Template.Spec.Containers[0].Args).To(BeEmpty())
		Expect(deployment.Spec.Template.Spec.Containers[0].Env).To(HaveLen(1))
		w.quiet(3, newPlan)
		w.restart()
		w.quiet(3, newPlan)

		By("rolling back to the old version and forward again without a fight")
		w.oldOperator(client.WithFieldOwner(w.admin, oldOperator))
		for _, o := range before {
			w.syncedObject(o)
		}
		w.converge(newPlan)
		Expect(uids()).To(Equal(want))
		Expect(managers(before[0])).To(ConsistOf(manager + " Apply"))
	})

	It("leaves fields behind that are reported with their manager if it is not declared", func() {
		migrate()
		var lines []string
		w.ctx = log.IntoContext(context.Background(), funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{}))
		w.converge(newPlan)
		said := strings.Join(lines, "\n")
		for _, part := range []string{
			`"manager"="` + oldOperator + `"`, `.metadata.labels.made-by`, `.data.old`,
			`.spec.ports[port=8080,protocol=\"TCP\"]`, `.spec.template.spec.containers[name=\"web\"].args`, `.env[name=\"OLD\"]`, "FormerManagers",
		} {
			Expect(said).To(ContainSubstring(part))
		}
		Expect(said).NotTo(ContainSubstring("hush"))
		Expect(managers(before[0])).To(ConsistOf(manager+" Apply", oldOperator+" Update"))
		lines = nil
		w.quiet(3, newPlan)
		Expect(lines).To(BeEmpty(), "once is enough")
	})
})

// recordedBefore writes an owner and its children with the marks and field managers of the first versions, as literal text: a change of these
// forms needs a migration.
func (a *attempt) recordedBefore() {
	GinkgoHelper()
	sum := sha256.Sum256([]byte("tracked." + a.namespace + ".Widget.test.reconcilekit.dev"))
	set := "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
	uid := string(a.owner.UID)
	reference := `"ownerReferences":[{"apiVersion":"test.reconcilekit.dev/v1","kind":"Widget","name":"tracked","uid":"` + uid + `","controller":true,"blockOwnerDeletion":true}]`
	label := `"labels":{"applyset.kubernetes.io/part-of":"` + set + `"}`
	Expect(a.admin.Patch(a.ctx, a.stored(), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{
		"finalizers":["reconcilekit.dev/apply-test"],"labels":{"applyset.kubernetes.io/id":"`+set+`"},"annotations":{
		"applyset.kubernetes.io/tooling":"apply-test/v1",
		"applyset.kubernetes.io/contains-group-kinds":"ClusterRole.rbac.authorization.k8s.io,ConfigMap,Secret",
		"applyset.kubernetes.io/additional-namespaces":"`+a.far+`",
		"reconcilekit.dev/contributions":"ConfigMap/`+a.namespace+`/shared,ConfigMap/`+a.namespace+`/target"}}}`)),
		client.FieldOwner("apply-test:owner"))).To(Succeed())
	a.create(a.in(a.namespace, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "target"}, Data: map[string]string{"theirs": "1"}}))
	for _, one := range []struct{ by, namespace, kind, name, marks, data string }{
		{"apply-test", a.namespace, "ConfigMap", "near", label + "," + reference, `{"value":"1"}`},
		{"apply-test", a.far, "ConfigMap", "far", label, `{"value":"1"}`},
		{"apply-test", "", "ClusterRole", a.role("own").GetName(), label, ""},
		{"apply-test:" + uid, a.namespace, "ConfigMap", "shared", `"annotations":{"reconcilekit.dev/shared":"true"}`, `{"ours":"1"}`},
		{"apply-test:" + uid, a.namespace, "ConfigMap", "target", "", `{"ours":"1"}`},
	} {
		o := &unstructured.Unstructured{}
		o.SetKind(one.kind)
		if o.SetAPIVersion("v1"); one.kind == "ClusterRole" {
			o.SetAPIVersion("rbac.authorization.k8s.io/v1")
		}
		o.SetNamespace(one.namespace)
		o.SetName(one.name)
		body := `{"apiVersion":"` + o.GetAPIVersion() + `","kind":"` + one.kind + `","metadata":{"name":"` + one.name + `"`
		if one.marks != "" {
			body += "," + one.marks
		}
		if body += "}"; one.data != "" {
			body += `,"data":` + one.data
		}
		Expect(a.admin.Patch(a.ctx, o, client.RawPatch(types.ApplyPatchType, []byte(body+"}")), client.FieldOwner(one.by))).To(Succeed())
	}
	yes := true
	Expect(a.admin.Create(a.ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: a.namespace, Name: "once", Labels: map[string]string{"applyset.kubernetes.io/part-of": set},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "test.reconcilekit.dev/v1", Kind: "Widget", Name: "tracked", UID: a.owner.UID, Controller: &yes, BlockOwnerDeletion: &yes,
		}},
	}, Data: map[string][]byte{"password": []byte("first")}}, client.FieldOwner("apply-test"))).To(Succeed())
}

var _ = DescribeTable("Records of the first versions are read, and nothing is lost", func(end func(a *attempt)) {
	w := newWorld(declared)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "apply-far-"}}
	Expect(w.admin.Create(w.ctx, ns)).To(Succeed())
	a := &attempt{world: w, far: ns.Name}
	a.stop()
	a.owner = &widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: "tracked", Namespace: w.namespace}, Spec: widget.Spec{Message: "x"}}
	a.create(a.owner)
	a.recordedBefore()
	a.start()
	plain := func(namespace, name, key string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{key: "1"}}
	}
	plan := func() apply.Plan {
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: a.role("own").GetName()}}
		p := planned(plain("", "near", "value"), plain(a.far, "far", "value"), role)
		p.Apply(&corev1.Secret{ObjectMeta: meta("once"), StringData: map[string]string{"password": "second"}}, apply.Once)
		p.Apply(plain("", "shared", "ours"), apply.Shared)
		p.Contribute(plain("", "target", "ours"))
		return p
	}
	a.synced(plan)
	a.syncedObject(a.stored())
	for range 3 {
		result, sent := a.pass(plan())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(result.PruneBlocked).NotTo(HaveOccurred())
		for _, o := range result.Objects {
			Expect(o.Outcome).To(Equal(apply.OutcomeUnchanged), "%s %s %s %v", o.GVK.Kind, o.Key, o.Reason, o.Fields)
		}
		Expect(writes(sent)).To(BeEmpty())
	}
	end(a)
	for _, o := range []client.Object{a.role("own"), a.in(a.far, configMap("far", "")), a.in(a.namespace, configMap("shared", ""))} {
		Expect(a.exists(o)).To(BeFalse(), o.GetName())
	}
	target := a.in(a.namespace, configMap("target", ""))
	Expect(a.exists(target)).To(BeTrue())
	Expect(target.(*corev1.ConfigMap).Data).To(Equal(map[string]string{"theirs": "1"}))
},
	Entry("when everything leaves the plan", func(a *attempt) {
		a.touchSpec()
		a.converge(func() apply.Plan { return apply.Plan{} })
		Expect(a.names()).NotTo(ContainElement("near"))
		Expect(a.stored().Finalizers).To(BeEmpty())
		Expect(a.stored().Annotations).To(BeEmpty())
	}),
	Entry("when the owner is deleted", func(a *attempt) {
		Expect(a.admin.Delete(a.ctx, a.stored())).To(Succeed())
		Eventually(func() error {
			a.finalizing(1)
			return a.admin.Get(a.ctx, client.ObjectKeyFromObject(a.owner), &widget.Widget{})
		}).Should(MatchError(apierrors.IsNotFound, "IsNotFound"))
	}),
)
