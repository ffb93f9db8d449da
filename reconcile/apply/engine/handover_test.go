package engine_test

import (
	"context"
	"net/http"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/applyset"
)

// behind is a cached client that returns old versions of the ConfigMaps of a
// namespace, also in lists.
type behind struct {
	client.Client

	mu    sync.Mutex
	items []corev1.ConfigMap
}

func (b *behind) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps, ok := list.(*corev1.ConfigMapList)
	if !ok || len(b.items) == 0 {
		return b.Client.List(ctx, list, opts...)
	}
	for i := range b.items {
		maps.Items = append(maps.Items, *b.items[i].DeepCopy())
	}
	return nil
}

func (b *behind) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if o, ok := into.(*corev1.ConfigMap); ok {
		for i := range b.items {
			if client.ObjectKeyFromObject(&b.items[i]) == key {
				b.items[i].DeepCopyInto(o)
				return nil
			}
		}
	}
	return b.Client.Get(ctx, key, into, opts...)
}

// throughBehind restarts the engine with a cache that can be frozen.
func (w *world) throughBehind() *behind {
	GinkgoHelper()
	b := &behind{Client: w.client}
	live, err := client.New(w.cacheless, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	w.engine, err = engine.New(b, live, w.options)
	Expect(err).NotTo(HaveOccurred())
	return b
}

// falls freezes the content of the cache.
func (b *behind) falls(w *world) {
	GinkgoHelper()
	var list corev1.ConfigMapList
	Expect(w.admin.List(w.ctx, &list, client.InNamespace(w.namespace), client.HasLabels{applyset.PartOfLabel})).To(Succeed())
	b.mu.Lock()
	defer b.mu.Unlock()
	b.items = list.Items
}

func named(names ...string) func() apply.Plan {
	return planOf(func() []client.Object {
		var out []client.Object
		for _, name := range names {
			out = append(out, configMap(name, "1"))
		}
		return out
	})
}

var _ = Describe("A child that another controller took over while the cache is stale", func() {
	changes := map[string]func(w *world){
		"another owner has adopted it": func(w *world) {
			other := *w
			other.owner = w.newOwner("other")
			other.start()
			DeferCleanup(func() { other.stop() })
			other.converge(one(func() client.Object { return configMap("a", "2") }, apply.AdoptControlled))
		},
		"another controller has it": func(w *world) {
			other := w.newOwner("other")
			a := configMap("a", "")
			Expect(w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "a"}, a)).To(Succeed())
			a.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(other, widget.GroupVersion.WithKind("Widget"))}
			Expect(w.admin.Update(w.ctx, a)).To(Succeed())
		},
		"a user has taken it out of the set": func(w *world) {
			w.edit(configMap("a", ""), types.MergePatchType, `{"metadata":{"ownerReferences":null,"labels":null}}`, "user")
		},
		"a user has opted it out": func(w *world) {
			w.edit(configMap("a", ""), types.MergePatchType, `{"metadata":{"annotations":{"example.com/managed":"false"}}}`, "user")
		},
	}
	optOut := func(w *world) { w.options.OptOutAnnotation = "example.com/managed" }

	for name, change := range changes {
		It("is not pruned: "+name, func() {
			w := newWorld(optOut)
			b := w.throughBehind()
			w.converge(named("a", "b"))
			b.falls(w)
			change(w)
			w.touchSpec()
			for range 3 {
				result, _ := w.pass(named("b")())
				Expect(result.Err()).NotTo(HaveOccurred())
			}
			Expect(w.exists(configMapIn(w.namespace, "a"))).To(BeTrue())
		})
	}

	for _, name := range []string{"another controller has it", "a user has opted it out"} {
		for _, before := range []string{http.MethodPost, http.MethodDelete} {
			It("is not deleted to be recreated: "+name+", before "+before, func() {
				w := newWorld(optOut)
				immutable := func(value string) func() apply.Plan {
					return one(func() client.Object {
						a := configMap("a", value)
						a.Immutable = new(true)
						return a
					}, apply.Recreate())
				}
				w.converge(immutable("1"))
				made := w.uidOf(configMapIn(w.namespace, "a"))
				var once sync.Once
				w.requests.mu.Lock()
				w.requests.fail = func(_ int, r *http.Request) error {
					if r.Method == before {
						once.Do(func() { changes[name](w) })
					}
					return nil
				}
				w.requests.mu.Unlock()
				for range 2 {
					w.pass(immutable("2")())
				}
				once.Do(func() { Fail("no " + before + " was sent") })
				Expect(w.uidOf(configMapIn(w.namespace, "a"))).To(Equal(made))
			})
		}
	}

	for _, name := range []string{"another owner has adopted it", "another controller has it", "a user has opted it out"} {
		It("is not deleted by a planned deletion: "+name, func() {
			w := newWorld(optOut)
			b := w.throughBehind()
			w.converge(named("a", "b"))
			b.falls(w)
			changes[name](w)
			p := named("b")()
			p.Delete(configMap("a", ""))
			w.pass(p)
			Expect(w.exists(configMapIn(w.namespace, "a"))).To(BeTrue())
		})
	}

	It("is not deleted because of labels that it no longer has", func() {
		w := newWorld()
		b := w.throughBehind()
		w.theirs(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"old": "yes", applyset.PartOfLabel: "x"}}})
		b.falls(w)
		w.edit(configMap("a", ""), types.MergePatchType, `{"metadata":{"labels":null}}`, "user")
		var p apply.Plan
		p.Delete(configMap("a", ""), apply.MatchLabels{"old": "yes"})
		result, _ := w.pass(p)
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(w.exists(configMapIn(w.namespace, "a"))).To(BeTrue())
	})

	It("is still pruned and deleted if only its content changed", func() {
		w := newWorld()
		b := w.throughBehind()
		w.converge(named("a", "b", "c"))
		b.falls(w)
		for _, name := range []string{"a", "b"} {
			w.edit(configMap(name, ""), types.MergePatchType, `{"data":{"more":"1"}}`, "user")
		}
		w.touchSpec()
		p := named("c")()
		p.Delete(configMap("b", ""))
		result, _ := w.pass(p)
		Expect(result.Err()).NotTo(HaveOccurred())
		for _, name := range []string{"a", "b"} {
			err := w.admin.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, &corev1.ConfigMap{})
			Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%s: %v", name, err)
		}
	})
})
