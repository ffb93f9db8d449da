package controller_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

const lag = 500 * time.Millisecond

// lagging delays the events of watches of ConfigMaps.
type lagging struct {
	next http.RoundTripper
	by   time.Duration
}

func (l lagging) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.next.RoundTrip(request)
	if err != nil || !strings.HasSuffix(request.URL.Path, "/configmaps") || request.URL.Query().Get("watch") == "" {
		return response, err
	}
	response.Body = delay(response.Body, l.by)
	return response, nil
}

// delayed is a response body whose bytes are delivered with a delay.
type delayed struct {
	io.Reader
	io.Closer
}

func delay(body io.ReadCloser, by time.Duration) io.ReadCloser {
	type chunk struct {
		data []byte
		at   time.Time
		err  error
	}
	const room = 1024
	chunks := make(chan chunk, room)
	reader, writer := io.Pipe()
	go func() {
		defer close(chunks)
		for {
			data := make([]byte, room)
			n, err := body.Read(data)
			chunks <- chunk{data[:n], time.Now().Add(by), err}
			if err != nil {
				return
			}
		}
	}()
	go func() {
		for c := range chunks {
			time.Sleep(time.Until(c.at))
			_, _ = writer.Write(c.data)
			if c.err != nil {
				writer.CloseWithError(c.err)
			}
		}
	}()
	return delayed{reader, body}
}

var _ = Describe("With a delayed cache", func() {
	const wanted = 5
	// creator plans as many children as are missing, each with a unique name. If it counts
	// too few, it creates too many.
	creator := func(child func(namespace, name string) client.Object, count func(context.Context, reconcile.Reader, string) (int, error)) *probe {
		var serial atomic.Int64
		return &probe{
			fetch: func(ctx context.Context, r reconcile.Reader, o *widget.Widget) world {
				found, err := count(ctx, r, o.Namespace)
				return world{err: err, names: make([]string, found)}
			},
			plan: func(o *widget.Widget, w world) (plan reconcile.PlanResult) {
				for range wanted - len(w.names) {
					plan.Apply(child(o.Namespace, fmt.Sprint("child-", serial.Add(1))), apply.Retained)
				}
				return plan
			},
		}
	}
	made := map[string]string{"made": "here"}
	typedChild := func(namespace, name string) client.Object { return configMap(namespace, name, made) }
	genericChild := func(namespace, name string) client.Object {
		object := gadget()
		object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
		object.SetNamespace(namespace)
		object.SetName(name)
		object.SetLabels(made)
		return object
	}
	countTyped := func(ctx context.Context, r reconcile.Reader, namespace string) (int, error) {
		list := &corev1.ConfigMapList{}
		err := r.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels(made))
		return len(list.Items), err
	}
	countMetadata := func(ctx context.Context, r reconcile.Reader, namespace string) (int, error) {
		list := metadataList("v1", "ConfigMapList")
		err := r.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels(made))
		return len(list.Items), err
	}

	type setup struct {
		name   string
		probe  *probe
		off    bool
		filter labels.Selector
	}
	// enqueue changes the owner a hundred times and returns the number of children after the last reconciliation.
	enqueue := func(ctx context.Context, s setup) int {
		GinkgoHelper()
		namespace, c := env.Namespace(GinkgoTB()), admin()
		events := make(chan event.GenericEvent)
		options, by := settings(), lag
		options.Apply.LagDeadline = soon // a slow machine must not end the wait early
		if s.off {
			// Long enough that a second reconciliation begins during the delay, even on a slow machine.
			options.Apply.LagDeadline, by = -1, 4*lag
		}
		var filter []controller.KindOption
		if s.filter != nil {
			filter = append(filter, controller.Filter(client.MatchingLabelsSelector{Selector: s.filter}))
		}
		b := controller.New(s.name, s.probe).
			Writes(&corev1.ConfigMap{}, filter...).
			Options(options).
			WatchesSource(source.Channel(events, &handler.EnqueueRequestForObject{})).Build()
		cacheOptions := cache.Options{}
		if s.filter != nil {
			var err error
			cacheOptions, err = controller.CacheOptions(testScheme(GinkgoTB()), b)
			Expect(err).NotTo(HaveOccurred())
		}
		slow := func(next http.RoundTripper) http.RoundTripper { return lagging{next, by} }
		runs{wrap: slow, cache: cacheOptions}.start(namespace, b.SetupWithManager)
		w := newWidget(namespace, "w")
		Expect(c.Create(ctx, w)).To(Succeed())
		Eventually(s.probe.count).WithArguments("w").WithPolling(time.Millisecond).WithTimeout(soon).Should(BeNumerically(">", 0))
		for range 100 {
			events <- event.GenericEvent{Object: w}
			time.Sleep(10 * time.Millisecond)
		}
		Eventually(s.probe.count).WithArguments("w").WithTimeout(2 * soon).Should(BeNumerically(">", 1))
		s.probe.settled(ctx, "w")
		list := &corev1.ConfigMapList{}
		Expect(c.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels(made))).To(Succeed())
		return len(list.Items)
	}

	DescribeTable("a reconciliation reads the writes of the previous one", func(ctx context.Context, s func() setup) {
		Expect(enqueue(ctx, s())).To(Equal(wanted))
	},
		Entry("in the same representation", func() setup { return setup{name: "ryw", probe: creator(typedChild, countTyped)} }),
		Entry("written in another representation than the cached one", func() setup {
			return setup{name: "ryw-written", probe: creator(genericChild, countTyped)}
		}),
		Entry("read in another representation than the cached one", func() setup {
			return setup{name: "ryw-read", probe: creator(typedChild, countMetadata)}
		}),
		Entry("through a cache with a selector", func() setup {
			return setup{name: "ryw-filter", probe: creator(typedChild, countTyped), filter: labels.SelectorFromSet(made)}
		}),
	)

	It("a controller creates too many children without the wait, which validates the test", func(ctx context.Context) {
		Expect(enqueue(ctx, setup{name: "ryw-off", probe: creator(typedChild, countTyped), off: true})).To(
			BeNumerically(">", wanted))
	})

	It("a controller does not wait for an object that the cache's selector excludes", func(ctx context.Context) {
		outside := func(context.Context, reconcile.Reader, string) (int, error) { return wanted - 1, nil }
		p := creator(typedChild, outside)
		before := metric("reconcilekit_cache_lag_total", map[string]string{"controller": "ryw-outside"})
		enqueue(ctx, setup{name: "ryw-outside", probe: p, filter: labels.SelectorFromSet(labels.Set{"made": "elsewhere"})})
		Expect(metric("reconcilekit_cache_lag_total", map[string]string{"controller": "ryw-outside"})).To(Equal(before))
	})
})
