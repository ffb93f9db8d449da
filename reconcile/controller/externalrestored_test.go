package controller_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/external"
)

var _ = DescribeTable("The claims of external resources", func(ctx context.Context, change func(ctx context.Context, c client.Client, namespace string), third bool) {
	namespace, c, outside := env.Namespace(GinkgoTB()), admin(), newStore()
	rows := external.New("Row", outside, external.Options{})
	build := func(mgr manager.Manager) error {
		return controller.New("rows", withRows(rows, 0)).Owns(&corev1.ConfigMap{}).External(rows).Options(claiming(namespace)).Build().SetupWithManager(mgr)
	}
	first := runs{}.manager(namespace)
	Expect(build(first)).To(Succeed())
	running, stop := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() { stopped <- first.Start(running) }()
	Expect(c.Create(ctx, rowsOwner(namespace, "shop", "a"))).To(Succeed())
	Eventually(outside.keys).Should(Equal([]string{"a"}))
	stop()
	Eventually(stopped).Should(Receive())

	change(ctx, c, namespace)
	runs{}.start(namespace, build)
	var left []string
	if third {
		left = []string{"a"}
		Eventually(outside.row).WithArguments("a").Should(Equal("row of third"))
		Eventually(outside.keys).Should(Equal([]string{"a", "b"}))
	}
	owner := rowsOwner(namespace, "shop", "")
	Expect(client.IgnoreNotFound(c.Delete(ctx, owner))).To(Succeed())
	Eventually(func() bool { return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(owner), owner)) }).Should(BeTrue())
	Eventually(outside.keys).Should(ConsistOf(left))
	claims := &corev1.ConfigMapList{}
	Eventually(func() (names []string) {
		Expect(c.List(ctx, claims, client.InNamespace(namespace))).To(Succeed())
		for _, claim := range claims.Items {
			if claim.Data["kind"] == "Row" {
				names = append(names, claim.Data["key"])
			}
		}
		return names
	}).Should(ConsistOf(left))
},
	Entry("9 lost: work although their labels were not restored", func(ctx context.Context, c client.Client, namespace string) {
		claims := &corev1.ConfigMapList{}
		Expect(c.List(ctx, claims, client.InNamespace(namespace), client.HasLabels{"reconcilekit.dev/external-claim"})).To(Succeed())
		Expect(claims.Items).To(HaveLen(1))
		claims.Items[0].Labels = nil
		Expect(c.Update(ctx, &claims.Items[0])).To(Succeed())
		Expect(c.Delete(ctx, rowsOwner(namespace, "shop", ""))).To(Succeed())
	}, false),
	Entry("19 replaced: move from an owner without a finalizer to the owner that plans the key", func(ctx context.Context, c client.Client, namespace string) {
		Expect(change(ctx, c, rowsOwner(namespace, "shop", ""), func(o *widget.Widget) { o.Finalizers = nil })).To(Succeed())
		Expect(c.Delete(ctx, rowsOwner(namespace, "shop", ""))).To(Succeed())
		Expect(c.Create(ctx, rowsOwner(namespace, "third", "a"))).To(Succeed())
		Expect(c.Create(ctx, rowsOwner(namespace, "shop", "b"))).To(Succeed())
	}, true),
)

// rowsOwner returns an owner of the rows.
func rowsOwner(namespace, name, keys string) *widget.Widget {
	o := newWidget(namespace, name)
	o.Annotations = map[string]string{"rows": keys}
	return o
}
