package engine_test

import (
	"fmt"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// neighbours are other clients of the same objects: a replica of the engine, which runs
// while the engine is killed, another controller of the same owner, the owner of the
// owner with the same field manager, and objects of users.
type neighbours struct {
	*world

	replica, other *world
	parent         *widget.Widget
	foreign        []client.Object
	target         *corev1.ConfigMap
	theirs         map[string]types.UID // children of the other controller
}

func newNeighbours() *neighbours {
	GinkgoHelper()
	n := &neighbours{world: newWorld()}
	n.parent = n.newOwner("parent")
	n.replica, n.other = n.another(manager), n.another("another")
	gk := widget.GroupVersion.WithKind("Widget").GroupKind()
	label := map[string]string{applyset.PartOfLabel: applyset.ID(gk, client.ObjectKeyFromObject(n.owner))}
	reference := []metav1.OwnerReference{*metav1.NewControllerRef(n.stored(), widget.GroupVersion.WithKind("Widget"))}
	named := func(name string, change func(o *corev1.ConfigMap)) {
		o := configMap(name, "theirs")
		change(o)
		n.foreign = append(n.foreign, n.world.theirs(o))
	}
	named("planned", func(*corev1.ConfigMap) {})
	named("labelled", func(o *corev1.ConfigMap) { o.Labels = label })
	named("copied", func(o *corev1.ConfigMap) { o.Labels, o.OwnerReferences = label, reference })
	n.target = n.world.theirs(configMap("target", "theirs")).(*corev1.ConfigMap)
	n.other.converge(n.others())
	for _, o := range n.others()().Children {
		stored := o.Object
		Expect(n.admin.Get(n.ctx, client.ObjectKey{Namespace: n.namespace, Name: stored.GetName()}, stored)).To(Succeed())
		if n.theirs == nil {
			n.theirs = map[string]types.UID{}
		}
		n.theirs[stored.GetName()] = stored.GetUID()
	}
	n.runParent()
	return n
}

func (n *neighbours) others() func() apply.Plan {
	return func() apply.Plan {
		var p apply.Plan
		p.Apply(configMap("others", "1"))
		p.Apply(configMap("others-once", "1"), apply.Once)
		return p
	}
}

// runParent is a reconciliation of the owner's owner, in the process of the replica.
func (n *neighbours) runParent() {
	GinkgoHelper()
	current := &widget.Widget{}
	Expect(n.admin.Get(n.ctx, client.ObjectKeyFromObject(n.parent), current)).To(Succeed())
	var p apply.Plan
	p.Apply(&widget.Widget{ObjectMeta: meta("owner")}, apply.AdoptUncontrolled)
	n.replica.engine.Apply(n.ctx, current, p)
}

// plans are the plans of the killed engine and its replica.
func (n *neighbours) plans() []func() apply.Plan {
	return []func() apply.Plan{
		func() apply.Plan {
			var p apply.Plan
			p.Apply(configMap("a", "1"))
			p.Apply(configMap("planned", "ours"))
			p.Apply(configMap("once", "1"), apply.Once)
			p.Apply(&corev1.Secret{ObjectMeta: meta("c")})
			p.Contribute(&corev1.ConfigMap{ObjectMeta: meta("target"), Data: map[string]string{"ours": "1"}})
			return p
		},
		func() apply.Plan {
			var p apply.Plan
			p.Apply(configMap("a", "2"))
			p.Apply(&corev1.Service{ObjectMeta: meta("e"), Spec: servicePort()})
			return p
		},
	}
}

// run runs all of them until request number n of the engine,
// after which the engine is killed and restarted.
func (n *neighbours) run(kill int, commit bool) (killed bool) {
	GinkgoHelper()
	var crashed atomic.Bool
	n.requests.fail = crashAfter(int64(kill), commit, &crashed)
	for _, plan := range n.plans() {
		n.touchSpec()
		for range 3 {
			n.passWithStatus(plan())
			n.replica.passWithStatus(plan())
			n.runParent()
			if crashed.Load() && !killed {
				killed = true
				n.restart()
			}
		}
		n.settleAll(plan)
	}
	n.other.quiet(1, n.others())
	return killed
}

// settleAll runs both engines until neither sends anything, except requests for
// a planned object of a user.
func (n *neighbours) settleAll(plan func() apply.Plan) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		for _, w := range []*world{n.world, n.replica} {
			w.requests.take()
			result := w.passWithStatus(plan())
			for _, o := range result.Objects {
				if o.Key.Name != "planned" {
					g.Expect(o.Err).NotTo(HaveOccurred())
				}
			}
			g.Expect(result.PruneBlocked).ToNot(HaveOccurred())
			g.Expect(writes(w.requests.take())).To(BeEmpty())
		}
		n.runParent()
	}).Should(Succeed())
}

// check expects that no foreign object was changed and no object was lost.
func (n *neighbours) check() {
	GinkgoHelper()
	for _, o := range n.foreign {
		n.untouched(o)
	}
	for name, uid := range n.theirs {
		o := configMap(name, "")
		Expect(n.admin.Get(n.ctx, client.ObjectKey{Namespace: n.namespace, Name: name}, o)).To(Succeed())
		Expect(o.UID).To(Equal(uid))
	}
	target := &corev1.ConfigMap{}
	Expect(n.admin.Get(n.ctx, client.ObjectKeyFromObject(n.target), target)).To(Succeed())
	Expect(target.Data).To(Equal(map[string]string{"value": "theirs"}))
	Expect(n.members(client.HasLabels{applyset.PartOfLabel})).To(ConsistOf(
		"ConfigMap a", "ConfigMap copied", "ConfigMap labelled", "ConfigMap others", "ConfigMap others-once", "Service e"))
	Expect(n.stored().Annotations).To(HaveKeyWithValue(applyset.GroupKindsAnnotation, "ConfigMap"))
}

var _ = Describe("An engine that is killed while other clients run", func() {
	for _, commit := range []bool{false, true} {
		It(fmt.Sprintf("changes no foreign object and loses no object, at any request (last request performed: %v)", commit), func() {
			const strides = 3
			first := 1 + int(GinkgoRandomSeed())%strides
			for at := first; ; at += strides {
				By(fmt.Sprintf("killed at request %d", at))
				Expect(at).To(BeNumerically("<", 100))
				n := newNeighbours()
				killed := n.run(at, commit)
				n.check()
				for _, w := range []*world{n.world, n.replica, n.other} {
					w.stop()
				}
				if !killed {
					break
				}
			}
		})
	}
})
