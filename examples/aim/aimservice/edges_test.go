package aimservice_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/aim/aimservice"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
)

// reach says which services read an object.
type reach int

const (
	one        reach = iota // only the service that refers to it
	namespaced              // all services of its namespace
	everybody               // all services
)

// edge is a kind of read: a service reads another object. Objects created for a service have its name in theirs, so that
// no two services share an object.
type edge struct {
	what string
	// service edits a service so that it performs the read.
	service func(s *aimv1alpha1.AIMService)
	// given returns further objects that the read needs.
	given func(s *aimv1alpha1.AIMService) []client.Object
	// object returns the object that is read, as created.
	object func(s *aimv1alpha1.AIMService) client.Object
	// status sets the status of the object; nil: it has none.
	status func(o client.Object)
	// leave removes the object from the selection, or adds it again; nil: not possible.
	leave func(o client.Object, out bool)
	reach reach
	// relabel changes relevant labels of an object of which no other change is relevant; nil: all labels are relevant.
	relabel func(o client.Object)
	// graceful says that the API server updates the object before it deletes it; a finalizer separates the two events.
	graceful bool
	// owner says that the object is a service, too. Its own changes enqueue it, and the spec neither creates nor deletes
	// it.
	owner bool
}

var _ = Describe("A service that reads", Ordered, func() {
	var w *edgeWorld
	BeforeAll(func() { w = startReading() })

	for _, e := range edges() {
		It(e.what+" is enqueued once for each of its changes, and no other owner is", func() {
			p := stage(w, e)
			if e.owner {
				p.changes()
				return
			}
			stranger := e.object(e.serviceIn(p.s.Namespace, "stranger"))
			p.enqueues("create another", "create", stranger, nil, func() { put(stranger) })
			p.enqueues("change another", "update", stranger, nil, func() { e.touchLabels(stranger) })
			p.comes()
			p.changes()
			p.leaves()
			p.goes()
			p.comes() // the operator still tracks the deleted object
		})
	}

	It("covers each kind that the operator watches", func() {
		described, err := aimservice.New().Describe(scheme)
		Expect(err).NotTo(HaveOccurred())
		read := []string{"apiextensions.k8s.io/v1/CustomResourceDefinition"} // read to detect optional kinds
		for _, e := range edges() {
			read = append(read, kindOf(e.object(e.serviceIn("default", "x"))))
		}
		for _, watch := range described.Watches {
			Expect(read).To(ContainElement(watch.GVK))
		}
	})
})

// play runs one edge in a cluster in which nothing else changes.
type play struct {
	*edgeWorld
	edge
	services []*aimv1alpha1.AIMService
	s        *aimv1alpha1.AIMService // the service under test
	sentinel *aimv1alpha1.AIMService // a service in another namespace with the same edge; its events mark the end of a wait
	mark     client.Object
	object   client.Object // the object that s reads
}

// stage creates three services with the edge, one of which reads only missing objects, and the object that the sentinel
// reads.
func stage(w *edgeWorld, e edge) *play {
	GinkgoHelper()
	here, there := namespace(), namespace()
	p := &play{edgeWorld: w, edge: e, s: e.serviceIn(here, "s"), sentinel: e.serviceIn(there, "z")}
	p.services = []*aimv1alpha1.AIMService{p.s, e.serviceIn(here, "bystander"), p.sentinel}
	for _, service := range p.services {
		put(service)
	}
	for _, service := range p.services {
		if e.given == nil {
			continue
		}
		for _, object := range e.given(service) {
			w.knows(put(object))
		}
	}
	p.mark = put(e.object(p.sentinel))
	w.knows(p.mark)
	if e.owner {
		p.object = put(e.object(p.s))
		w.quiet(p.object.(*aimv1alpha1.AIMService))
	}
	w.quiet(p.services...)
	return p
}

// readers returns the services that read an object created for its; with a nil its, only those that read it by its
// reach.
func (p *play) readers(object client.Object, its *aimv1alpha1.AIMService) (found []*aimv1alpha1.AIMService) {
	for _, service := range p.services {
		if service == its || p.reach == everybody || p.reach == namespaced && object.GetNamespace() == service.Namespace {
			found = append(found, service)
		}
	}
	if self, ok := object.(*aimv1alpha1.AIMService); ok {
		found = append(found, self)
	}
	return found
}

// enqueues checks that a change enqueues exactly the services that read the object, each once. Two later changes of the
// same kind mark the end of the wait: events of a kind arrive in order, and services leave the queue in order. One is
// not enough, because its event may arrive while a service is being reconciled.
func (p *play) enqueues(what, event string, object client.Object, its *aimv1alpha1.AIMService, do func()) {
	GinkgoHelper()
	p.triggers(what, event, object, p.readers(object, its), do)
}

func (p *play) triggers(what, event string, object client.Object, readers []*aimv1alpha1.AIMService, do func()) {
	GinkgoHelper()
	before := p.count()
	var want []string
	step := func(event string, object client.Object, readers []*aimv1alpha1.AIMService, do func()) {
		GinkgoHelper()
		for _, service := range readers {
			want = append(want, expected(service, event, object))
		}
		do()
		Eventually(func() []string { return p.since(before) }).WithPolling(10*time.Millisecond).Should(ContainElements(want), what)
	}
	step(event, object, readers, do)
	for range 2 {
		step("update", p.mark, p.readers(p.mark, p.sentinel), func() { p.touchLabels(p.mark) })
	}
	Expect(p.since(before)).To(ConsistOf(want), what)
}

func (p *play) comes() {
	GinkgoHelper()
	p.object = p.edge.object(p.s)
	if p.graceful {
		p.object.SetFinalizers([]string{"edges.test/hold"})
	}
	p.enqueues("create", "create", p.object, p.s, func() { put(p.object) })
}

func (p *play) changes() {
	GinkgoHelper()
	annotated := p.readers(p.object, p.s)
	if p.relabel != nil {
		annotated = nil
		p.triggers("another label", "update", p.object, nil, func() { touch(p.object, "labels") })
	}
	p.triggers("annotate", "update", p.object, annotated, func() { touch(p.object, "annotations") })
	p.enqueues("relabel", "update", p.object, p.s, func() { p.touchLabels(p.object) })
	if p.status == nil {
		return
	}
	p.enqueues("status", "update", p.object, p.s, func() {
		p.status(p.object)
		Expect(c.Status().Update(ctx, p.object)).To(Succeed())
	})
}

// touchLabels changes relevant labels.
func (e edge) touchLabels(object client.Object) {
	GinkgoHelper()
	if e.relabel == nil {
		touch(object, "labels")
		return
	}
	before := object.DeepCopyObject().(client.Object)
	e.relabel(object)
	Expect(c.Patch(ctx, object, client.MergeFrom(before))).To(Succeed())
}

func (p *play) leaves() {
	GinkgoHelper()
	if p.leave == nil {
		return
	}
	move := func(out bool) func() {
		return func() {
			p.leave(p.object, out)
			Expect(c.Update(ctx, p.object)).To(Succeed())
		}
	}
	p.enqueues("leave", "update", p.object, p.s, move(true))
	p.enqueues("change outside", "update", p.object, nil, func() { touch(p.object, "annotations") })
	p.enqueues("enter", "update", p.object, p.s, move(false))
}

func (p *play) goes() {
	GinkgoHelper()
	if !p.graceful {
		p.enqueues("delete", "delete", p.object, p.s, func() { Expect(c.Delete(ctx, p.object)).To(Succeed()) })
		return
	}
	p.enqueues("delete", "update", p.object, p.s, func() {
		Expect(c.Delete(ctx, p.object, client.GracePeriodSeconds(0))).To(Succeed())
	})
	p.enqueues("remove the finalizer", "delete", p.object, p.s, func() {
		release := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		Expect(c.Patch(ctx, p.object, release)).To(Succeed())
	})
}

// serviceIn returns a service with the edge, which the operator of the other specs ignores. It has its finalizer from
// the start, since adding it later would enqueue the service.
func (e edge) serviceIn(namespace, name string) *aimv1alpha1.AIMService {
	s := serviceOf(namespace, name, modelNameOf(namespace, name))
	s.Annotations = map[string]string{aimservice.PauseAnnotation: "true"}
	s.Finalizers = []string{aimservice.CleanupFinalizer}
	if e.service != nil {
		e.service(s)
	}
	return s
}

// modelNameOf returns the name of a cluster-scoped model.
func modelNameOf(namespace, name string) string { return namespace + "-" + name }
