package controller_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// browser is a tab of a headless browser, driven by the DevTools protocol over pipes (https://chromedevtools.github.io/devtools-protocol).
type browser struct {
	commands *os.File
	session  string

	mu      sync.Mutex
	last    int
	answers map[int]chan devtools
	failure []string // what the browser complained about
	loaded  []string // what it has asked for
}

// devtools is a message of the protocol.
type devtools struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// openBrowser starts a browser, or skips the spec where there is none; `make test-all` installs one in CI.
func openBrowser() *browser {
	GinkgoHelper()
	program := ""
	for _, name := range []string{"chromium-headless-shell", "chromium", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && program == "" {
			program = found
		}
	}
	if program == "" {
		Skip("no browser: install chromium-headless-shell")
	}
	theirs, commands, err := os.Pipe()
	Expect(err).NotTo(HaveOccurred())
	messages, answers, err := os.Pipe()
	Expect(err).NotTo(HaveOccurred())
	profile, err := os.MkdirTemp("", "browser")
	Expect(err).NotTo(HaveOccurred())
	command := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
		"--user-data-dir="+profile, "--window-size=1200,800", "about:blank")
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.ExtraFiles = []*os.File{theirs, answers}
	Expect(command.Start()).To(Succeed())
	Expect(theirs.Close()).To(Succeed())
	Expect(answers.Close()).To(Succeed())
	b := &browser{commands: commands, answers: map[int]chan devtools{}}
	go b.listen(messages)
	DeferCleanup(func() {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // its own children, too
		_ = command.Wait()
		_ = commands.Close()
		Eventually(os.RemoveAll).WithArguments(profile).WithTimeout(soon).Should(Succeed())
	})
	target := struct{ TargetID, SessionID string }{}
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// listen takes in what the browser says: messages end with a zero byte.
func (b *browser) listen(messages *os.File) {
	reader := bufio.NewReader(messages)
	for {
		raw, err := reader.ReadBytes(0)
		if err != nil {
			return
		}
		var m devtools
		if json.Unmarshal(bytes.TrimSuffix(raw, []byte{0}), &m) != nil {
			continue
		}
		b.mu.Lock()
		switch m.Method {
		case "Log.entryAdded", "Runtime.exceptionThrown":
			b.failure = append(b.failure, string(m.Params))
		case "Network.requestWillBeSent":
			var sent struct{ Request struct{ URL string } }
			_ = json.Unmarshal(m.Params, &sent)
			b.loaded = append(b.loaded, sent.Request.URL)
		}
		if answer := b.answers[m.ID]; answer != nil {
			delete(b.answers, m.ID)
			answer <- m
		}
		b.mu.Unlock()
	}
}

// call sends a command and waits for its result.
func (b *browser) call(method string, params, result any) {
	GinkgoHelper()
	raw, err := json.Marshal(params)
	Expect(err).NotTo(HaveOccurred())
	answer := make(chan devtools, 1)
	b.mu.Lock()
	b.last++
	m := devtools{ID: b.last, Session: b.session, Method: method}
	if params != nil {
		m.Params = raw
	}
	b.answers[m.ID] = answer
	b.mu.Unlock()
	sent, err := json.Marshal(m)
	Expect(err).NotTo(HaveOccurred())
	_, err = b.commands.Write(append(sent, 0))
	Expect(err).NotTo(HaveOccurred())
	var got devtools
	Eventually(answer).WithTimeout(soon).Should(Receive(&got), method)
	Expect(got.Error).To(BeEmpty(), method)
	if result != nil {
		Expect(json.Unmarshal(got.Result, result)).To(Succeed())
	}
}

// eval is the value of an expression on the page, as text.
func (b *browser) eval(expression string) string {
	GinkgoHelper()
	var got struct{ Result struct{ Value any } }
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &got)
	return fmt.Sprint(got.Result.Value)
}

func (b *browser) text() string {
	GinkgoHelper()
	return b.eval("document.body ? document.body.innerText : ''")
}

// click presses the mouse on the link with the text.
func (b *browser) click(text string) {
	GinkgoHelper()
	var at struct{ X, Y float64 }
	found := b.eval(fmt.Sprintf(`(() => { const a = [...document.querySelectorAll("a")].find(a => a.innerText === %q);
		if (!a) return "{}"; a.scrollIntoView(); const r = a.getBoundingClientRect();
		return JSON.stringify({X: r.x + r.width/2, Y: r.y + r.height/2}) })()`, text))
	Expect(json.Unmarshal([]byte(found), &at)).To(Succeed())
	Expect(at.X).NotTo(BeZero(), "no link %q in:\n%s", text, b.text())
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
	}
}

var _ = Describe("the page of explanations in a browser", func() {
	It("leads by clicks to an owner and to the dataflow, and shows what is new by itself", func(ctx context.Context) {
		if testing.Short() {
			Skip("starts a browser")
		}
		tab := openBrowser()
		namespace, c, address := env.Namespace(GinkgoTB()), admin(), freeAddress()
		p := &probe{
			fetch: func(_ context.Context, _ reconcile.Reader, o *widget.Widget) world {
				if o.Spec.Message == "fine" {
					return world{}
				}
				return world{err: health.NewError(health.InvalidSpec, "Odd", `<b id="injected">odd</b>`, nil)}
			},
			plan: func(o *widget.Widget, _ world) (plan reconcile.PlanResult) {
				plan.Apply(configMap(o.Namespace, "settings", nil))
				return plan
			},
		}
		b := controller.New("browsed", p).Owns(&corev1.ConfigMap{}).Options(settings()).Build()
		runs{metrics: server.Options{BindAddress: address}}.start(namespace, func(mgr manager.Manager) error {
			if err := mgr.AddMetricsServerExtraHandler(controller.ExplainPath, controller.ExplainHandler(b)); err != nil {
				return err
			}
			return b.SetupWithManager(mgr)
		})
		one := newWidget(namespace, "one")
		Expect(c.Create(ctx, one)).To(Succeed())
		Eventually(func() int { status, _ := asked(address, controller.ExplainPath, ""); return status }).WithTimeout(soon).Should(Equal(http.StatusOK))

		origin := "http://" + address
		tab.call("Page.navigate", map[string]any{"url": origin + controller.ExplainPath + "?format=html"}, nil)
		owner := "test.reconcilekit.dev/v1/Widget " + namespace + "/one"
		Eventually(tab.text).WithTimeout(soon).Should(And(ContainSubstring(owner), ContainSubstring("NotReady"), ContainSubstring("odd</b>")))
		Expect(tab.eval(`document.querySelectorAll("#injected").length`)).To(Equal("0"))
		tab.click("NotReady")
		Eventually(func() string { return tab.eval("location.search") }).WithTimeout(soon).Should(ContainSubstring("state=NotReady"))
		Eventually(tab.text).WithTimeout(soon).Should(ContainSubstring(owner))
		tab.click(owner)
		Eventually(tab.text).WithTimeout(soon).Should(ContainSubstring("Widget " + namespace + "/one (controller browsed): not ready"))

		tab.eval("window.stayed = 1")
		Expect(change(ctx, c, one, func(w *widget.Widget) { w.Spec.Message = "fine" })).To(Succeed())
		Eventually(tab.text).WithTimeout(soon).Should(And(
			ContainSubstring("(controller browsed): ready"), ContainSubstring("ConfigMap "+namespace+"/settings"),
		))
		Expect(tab.eval("window.stayed")).To(Equal("1"), "the page was not loaded again")

		tab.click("dataflow")
		Eventually(tab.text).WithTimeout(soon).Should(ContainSubstring("/v1/ConfigMap"))
		Expect(tab.eval(`document.querySelectorAll("svg rect").length`)).To(Equal("5"), "the controller, and both kinds as read and as written")
		var shot struct{ Data []byte }
		tab.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
		picture, err := png.Decode(bytes.NewReader(shot.Data))
		Expect(err).NotTo(HaveOccurred())
		Expect(picture.Bounds().Dx()).To(BeNumerically(">", 400))

		tab.mu.Lock()
		defer tab.mu.Unlock()
		Expect(tab.failure).To(BeEmpty())
		for _, url := range tab.loaded {
			Expect(strings.HasPrefix(url, origin+controller.ExplainPath) || url == "about:blank").To(BeTrue(), url)
		}
	})
})
