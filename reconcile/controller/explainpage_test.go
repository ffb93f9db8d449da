package controller_test

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// shownPage is a parsed HTML page.
type shownPage struct {
	header http.Header
	text   string
	links  []string
	tags   []string
}

// openPage returns the page at the path.
func openPage(handler http.Handler, path string) shownPage {
	GinkgoHelper()
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	Expect(answer.Code).To(Equal(http.StatusOK), path)
	p := shownPage{header: answer.Header()}
	decoder := xml.NewDecoder(answer.Body)
	decoder.Strict, decoder.AutoClose, decoder.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var text strings.Builder
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		Expect(err).NotTo(HaveOccurred(), path)
		switch token := token.(type) {
		case xml.CharData:
			text.Write(token)
		case xml.StartElement:
			p.tags = append(p.tags, token.Name.Local)
			for _, attribute := range token.Attr {
				Expect(attribute.Name.Local).NotTo(BeElementOf("src", "onclick", "onload"), "the page loads something")
				if attribute.Name.Local == "href" {
					p.links = append(p.links, attribute.Value)
				}
			}
		}
	}
	p.text = text.String()
	return p
}

var _ = Describe("The explain page", func() {
	It("links the list and every owner, shows changes, and escapes messages", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		const said = `<script>alert("hunter")</script>`
		p := &probe{fetch: func(_ context.Context, _ reconcile.Reader, o *widget.Widget) world {
			if o.Spec.Message == "fine" {
				return world{}
			}
			return world{err: health.NewError(health.InvalidSpec, "Odd", said, nil)}
		}}
		b := controller.New("page", p).Owns(&corev1.ConfigMap{}).Options(settings()).Build()
		runs{}.start(namespace, func(mgr manager.Manager) error { return b.SetupWithManager(mgr) })
		one, other := newWidget(namespace, "one"), newWidget(namespace, "other")
		Expect(c.Create(ctx, one)).To(Succeed())
		Expect(c.Create(ctx, other)).To(Succeed())
		p.settled(ctx, "one") // waits for the caches
		handler := controller.ExplainHandler(b)
		start := controller.ExplainPath + "?format=html"
		Eventually(func() string { return openPage(handler, start).text }).WithTimeout(soon).Should(And(
			ContainSubstring("Widget "+namespace+"/one"), ContainSubstring("Widget "+namespace+"/other"), ContainSubstring(said),
		))

		todo, seen := []string{start}, map[string]shownPage{}
		for len(todo) > 0 {
			path := todo[0]
			todo = todo[1:]
			if _, known := seen[path]; known {
				continue
			}
			found := openPage(handler, path)
			seen[path] = found
			Expect(found.tags).NotTo(ContainElement("script"), path)
			Expect(found.header.Get("Content-Security-Policy")).To(Equal("default-src 'none'; style-src 'unsafe-inline'"))
			for _, link := range found.links {
				Expect(link).To(HavePrefix("?"), "a link leads to another server")
				todo = append(todo, controller.ExplainPath+link)
			}
		}
		of := func(name string) (path string) {
			for found := range seen {
				if strings.Contains(found, "name="+name+"&") {
					path = found
				}
			}
			return path
		}
		Expect(seen[of("one")].text).To(And(ContainSubstring("Widget "+namespace+"/one (controller page): not ready"), ContainSubstring(said)))
		Expect(seen[of("other")].links).To(ContainElement("?format=html"))
		Expect(len(seen)).To(BeNumerically(">=", 1+6+1+2), "list, states, dataflow, and one of each owner")
		flow := seen[controller.ExplainPath+"?format=html&show=dataflow"]
		Expect(flow.tags).To(ContainElements("svg", "rect", "line"))
		Expect(flow.text).To(And(ContainSubstring("/v1/ConfigMap"), ContainSubstring("create, patch")))

		Expect(change(ctx, c, one, func(w *widget.Widget) { w.Spec.Message = "fine" })).To(Succeed())
		Eventually(func() string { return openPage(handler, of("one")).text }).WithTimeout(soon).Should(And(
			ContainSubstring("Widget "+namespace+"/one (controller page): ready"), Not(ContainSubstring(said)),
		))
		Expect(slices.ContainsFunc(openPage(handler, start+"&state=NotReady").links, func(link string) bool {
			return strings.Contains(link, "name="+client.ObjectKeyFromObject(one).Name+"&")
		})).To(BeFalse())
	})
})
