package controller_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

var _ = Describe("The status of an owner", func() {
	var (
		ctx       = context.Background()
		namespace string
		p         *probe
	)
	start := func(owners int) {
		GinkgoHelper()
		namespace, p = env.Namespace(GinkgoTB()), &probe{}
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("status", p).Options(settings()).Build().SetupWithManager(mgr)
		})
		Expect(inOrder(owners, func(i int) error { return admin().Create(ctx, newWidget(namespace, fmt.Sprint("w", i))) })).To(Succeed())
	}
	stored := func() *widget.Widget {
		GinkgoHelper()
		w := newWidget(namespace, "w0")
		Expect(admin().Get(ctx, client.ObjectKeyFromObject(w), w)).To(Succeed())
		return w
	}

	It("does not enqueue the owner when the controller writes it", func() {
		const owners = 30
		start(owners)
		for i := range owners {
			Eventually(p.count).WithArguments(fmt.Sprint("w", i)).WithTimeout(soon).Should(Equal(1))
		}
		Consistently(func() int { passes, _ := p.total(); return passes }).WithTimeout(time.Second).Should(Equal(owners))
	})

	It("is restored after another writer clears it", func() {
		start(1)
		passes := p.settled(ctx, "w0")
		wiped := stored()
		Expect(wiped.Status.Conditions).NotTo(BeEmpty())
		wiped.Status = widget.Status{}
		Expect(admin().Status().Update(ctx, wiped, client.FieldOwner("somebody"))).To(Succeed())
		Eventually(func() []metav1.Condition { return stored().Status.Conditions }).WithTimeout(soon).ShouldNot(BeEmpty())
		Expect(p.settled(ctx, "w0")).To(Equal(passes + 1))
	})

	It("enqueues the owner when another writer sets a field of it, and causes no write", func() {
		start(1)
		passes := p.settled(ctx, "w0")
		for i := range 3 {
			patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"status":{"count":%d}}`, i+1))
			patched := stored()
			Expect(admin().Status().Patch(ctx, patched, patch, client.FieldOwner("somebody"))).To(Succeed())
			Eventually(p.count).WithArguments("w0").WithTimeout(soon).Should(Equal(passes + i + 1))
			Expect(p.settled(ctx, "w0")).To(Equal(passes + i + 1))
			Expect(stored().ResourceVersion).To(Equal(patched.ResourceVersion))
		}
	})
})

// inOrder calls do with each number below count until one fails.
func inOrder(count int, do func(i int) error) error {
	for i := range count {
		if err := do(i); err != nil {
			return err
		}
	}
	return nil
}
