package controller_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// recordedSpans is a tracer provider that records ended spans in the order of their ends.
type recordedSpans struct {
	embedded.TracerProvider

	mu    sync.Mutex
	spans []*recordedSpan
}

type recordedTracer struct {
	embedded.Tracer

	provider *recordedSpans
}

// recordedSpan is written only by its reconciliation until it ends.
type recordedSpan struct {
	noop.Span

	provider   *recordedSpans
	Name       string
	parent     trace.Span
	attributes map[attribute.Key]attribute.Value
	Err        error
	Status     codes.Code
}

func (p *recordedSpans) Tracer(string, ...trace.TracerOption) trace.Tracer {
	return recordedTracer{provider: p}
}

func (t recordedTracer) Start(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	span := &recordedSpan{
		provider: t.provider, Name: name, parent: trace.SpanFromContext(ctx), attributes: map[attribute.Key]attribute.Value{},
	}
	config := trace.NewSpanStartConfig(options...)
	span.SetAttributes(config.Attributes()...)
	return trace.ContextWithSpan(ctx, span), span
}

func (*recordedSpan) IsRecording() bool { return true }

func (s *recordedSpan) SetAttributes(attributes ...attribute.KeyValue) {
	for _, a := range attributes {
		s.attributes[a.Key] = a.Value
	}
}

func (s *recordedSpan) SetStatus(code codes.Code, _ string)           { s.Status = code }
func (s *recordedSpan) RecordError(err error, _ ...trace.EventOption) { s.Err = err }
func (s *recordedSpan) End(...trace.SpanEndOption) {
	s.provider.mu.Lock()
	defer s.provider.mu.Unlock()
	s.provider.spans = append(s.provider.spans, s)
}

// passes returns the ended spans of reconciliations, and for each the names of its phases.
func (p *recordedSpans) passes() (passes []*recordedSpan, phases [][]string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pass := range p.spans {
		if pass.Name != "Reconcile" {
			continue
		}
		var names []string
		for _, span := range p.spans {
			if span.parent == trace.Span(pass) {
				names = append(names, span.Name)
			}
		}
		passes, phases = append(passes, pass), append(phases, names)
	}
	return passes, phases
}

// withAttribute returns the spans of reconciliations with the attribute.
func (p *recordedSpans) withAttribute(key attribute.Key, value string) []*recordedSpan {
	passes, _ := p.passes()
	return slices.DeleteFunc(passes, func(s *recordedSpan) bool { return s.attributes[key].AsString() != value })
}

var _ = Describe("Spans", func() {
	It("are recorded for each reconciliation, with its trigger, and for its phases", func(ctx context.Context) {
		namespace := env.Namespace(GinkgoTB())
		c, spans := admin(), &recordedSpans{}
		var inside sync.Map // the spans in which FetchRemoteState ran
		p := &probe{
			fetch: func(ctx context.Context, r reconcile.Reader, owner *widget.Widget) world {
				if span, ok := trace.SpanFromContext(ctx).(*recordedSpan); ok {
					inside.Store(span.Name, true)
				}
				result := reconcile.Fetch(ctx, r, client.ObjectKey{Namespace: owner.Namespace, Name: "read"}, &corev1.ConfigMap{})
				if result.OK() && result.Value.Data["broken"] != "" {
					panic(errors.New(result.Value.Data["broken"]))
				}
				return world{err: client.IgnoreNotFound(result.Error)}
			},
		}
		options := settings()
		options.TracerProvider = spans
		runs{}.start(namespace, func(mgr manager.Manager) error {
			return controller.New("traced", p).Reads(&corev1.ConfigMap{}).Options(options).Build().SetupWithManager(mgr)
		})
		Expect(c.Create(ctx, newWidget(namespace, "w"))).To(Succeed())
		p.settled(ctx, "w")
		read := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "read"}, Data: map[string]string{"field": "to have a manager"},
		}
		Expect(c.Create(ctx, read, client.FieldOwner("somebody"))).To(Succeed())

		woken := func() []*recordedSpan { return spans.withAttribute("reconcilekit.wake.name", "read") }
		Eventually(woken).WithTimeout(soon).Should(HaveLen(1))
		Expect(woken()[0].attributes).To(SatisfyAll(
			HaveKeyWithValue(attribute.Key("reconcilekit.controller"), attribute.StringValue("traced")),
			HaveKeyWithValue(attribute.Key("k8s.namespace.name"), attribute.StringValue(namespace)),
			HaveKeyWithValue(attribute.Key("reconcilekit.owner.name"), attribute.StringValue("w")),
			HaveKeyWithValue(attribute.Key("reconcilekit.wake.event"), attribute.StringValue("create")),
			HaveKeyWithValue(attribute.Key("reconcilekit.wake.kind"), attribute.StringValue("/v1/ConfigMap")),
			HaveKeyWithValue(attribute.Key("reconcilekit.wake.namespace"), attribute.StringValue(namespace)),
			HaveKeyWithValue(attribute.Key("reconcilekit.wake.field_manager"), attribute.StringValue("somebody")),
			HaveKeyWithValue(attribute.Key("reconcilekit.wake.more"), attribute.IntValue(0)),
			HaveKeyWithValue(attribute.Key("reconcilekit.status_written"), attribute.BoolValue(false)),
		))
		Expect(woken()[0].Status).To(Equal(codes.Unset))
		_, phases := spans.passes()
		Expect(phases).To(HaveEach(Equal([]string{
			"FetchRemoteState", "PlanResources", "GetComponentHealth", "Apply", "WriteStatus",
		})))
		_, fetches := inside.Load("FetchRemoteState")
		Expect(fetches).To(BeTrue(), "the phase runs in its span")

		By("failing a phase")
		Expect(change(ctx, c, read, func(m *corev1.ConfigMap) { m.Data = map[string]string{"broken": "no luck"} })).To(Succeed())
		Eventually(woken).WithTimeout(soon).Should(ContainElement(
			HaveField("Err", MatchError(ContainSubstring("no luck"))), // the pass
		))
		spans.mu.Lock()
		defer spans.mu.Unlock()
		Expect(spans.spans).To(ContainElement(SatisfyAll(
			HaveField("Name", "FetchRemoteState"), HaveField("Status", codes.Error),
			HaveField("Err", MatchError(ContainSubstring("no luck"))),
		)))
	})
})

// TestNoSpans checks that spans cost no allocation without a tracer provider.
func TestNoSpans(t *testing.T) {
	pass := controller.Untraced()
	if allocations := testing.AllocsPerRun(100, func() { pass(t.Context()) }); allocations > 0 {
		t.Errorf("a pass that nobody traces allocates %v times around the pipeline", allocations)
	}
}
