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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// shownPage is a page as a browser takes it in.
type shownPage struct {
	header http.Header
	text   string   // what a person reads
	links  []string // where it leads
	tags   []string
}

// opened is the page at the path.
func opened(handler http.Handler, path string) shownPage {
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
				Expect(attribute.Name.Local).NotTo(BeElementOf("src", "onclick", "onload"), "it needs nothing from elsewhere")
				if attribute.Name.Local == "href" {
					p.links = append(p.links, attribute.Value)
				}
			}
		}
	}
	p.text = text.String()
	return p
}

var _ = Describe("the page of explanations", func() {
	It("leads from the list to every owner and back, shows what is new, and escapes what others have said", func(ctx context.Context) {
		namespace, c := env.Namespace(GinkgoTB()), admin()
		const said = `<script>alert("hunter")</script>`
		p := &probe{fetch: func(_ context.Context, _ reconcile.Reader, o *widget.Widget) world {
			if o.Spec.Message == "fine" {
				return world{}
			}
			return world{err: health.NewError(health.InvalidSpec, "Odd", said, nil)}
		}}
		b := controller.New("page", p).Options(settings())
		runs{}.start(namespace, func(mgr manager.Manager) error { return b.SetupWithManager(mgr) })
		one, other := newWidget(namespace, "one"), newWidget(namespace, "other")
		Expect(c.Create(ctx, one)).To(Succeed())
		Expect(c.Create(ctx, other)).To(Succeed())
		handler := controller.ExplainHandler(b)
		start := controller.ExplainPath + "?format=html"
		Eventually(func() string { return opened(handler, start).text }).WithTimeout(soon).Should(And(
			ContainSubstring("Widget "+namespace+"/one"), ContainSubstring("Widget "+namespace+"/other"), ContainSubstring(said),
		))

		todo, seen := []string{start}, map[string]shownPage{}
		for len(todo) > 0 {
			path := todo[0]
			todo = todo[1:]
			if _, known := seen[path]; known {
				continue
			}
			found := opened(handler, path)
			seen[path] = found
			Expect(found.tags).NotTo(ContainElement("script"), path)
			Expect(found.header.Get("Content-Security-Policy")).To(HavePrefix("default-src 'none'"))
			Expect(found.header.Get("Refresh")).To(Equal(map[bool]string{true: "2"}[strings.Contains(path, "refresh=2")]), path)
			for _, link := range found.links {
				Expect(link).To(HavePrefix("?"), "it stays where it is served")
				todo = append(todo, controller.ExplainPath+link)
			}
		}
		of := func(name string) (path string) {
			for found := range seen {
				if strings.Contains(found, "name="+name+"&") && !strings.Contains(found, "refresh") {
					path = found
				}
			}
			return path
		}
		Expect(seen[of("one")].text).To(And(ContainSubstring("Widget "+namespace+"/one (controller page): not ready"), ContainSubstring(said)))
		Expect(seen[of("other")].links).To(ContainElement("?format=html"))
		Expect(len(seen)).To(BeNumerically(">=", 1+6+1+2*2), "list, states, live, and two of each owner")

		Expect(change(ctx, c, one, func(w *widget.Widget) { w.Spec.Message = "fine" })).To(Succeed())
		live := of("one") + "&refresh=2"
		Eventually(func() string { return opened(handler, live).text }).WithTimeout(soon).Should(And(
			ContainSubstring("Widget "+namespace+"/one (controller page): ready"), Not(ContainSubstring(said)),
		))
		Expect(slices.ContainsFunc(opened(handler, start+"&state=NotReady").links, func(link string) bool {
			return strings.Contains(link, "name="+client.ObjectKeyFromObject(one).Name+"&")
		})).To(BeFalse())
	})
})
