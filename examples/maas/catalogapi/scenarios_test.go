package catalogapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/reconcilekit/reconcilekit/examples/maas/catalogapi"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

// scenariosFile is outside the repository; the test is skipped without it.
const scenariosFile = "../../../../shared/scenarios/maas-api-scenarios.json"

type scenario struct {
	Name  string
	Given []map[string]any
	Stubs map[string]stubAnswer
	Steps []step
	step
}

type step struct {
	Request struct {
		Method, Path, RawBody string
		Headers               map[string]any
		Body                  any
	}
	Expect expectation
	Prefer *expectation
}

type expectation struct {
	Status          int
	Headers         map[string]string
	HeadersAbsent   []string
	Text            *string
	Body, BodyExact any
	Order           *struct {
		Path   string
		Values []any
	}
	Calls map[string]struct {
		Count   *int
		Path    string
		Headers []map[string]string
	}
}

type stubAnswer struct {
	Status   int
	Body     any
	Headers  map[string]string
	Text     *string
	Sequence []stubAnswer
	DelayMs  int
}

// TestScenarios replays recorded requests. Where a case specifies a better response than the product's, it expects that
// one.
func TestScenarios(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(scenariosFile)
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("the recorded requests are missing: %v", err)
	}
	var all []json.RawMessage
	if err == nil {
		err = json.Unmarshal(content, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no case")
	}
	for _, raw := range all {
		var named scenario
		if err := json.Unmarshal(raw, &named); err != nil {
			t.Fatal(err)
		}
		t.Run(named.Name, func(t *testing.T) {
			t.Parallel()
			play(t, raw, named.Stubs)
		})
	}
}

// stub is a model server that records its requests.
type stub struct {
	mu     sync.Mutex
	answer stubAnswer
	got    []*http.Request
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	a, n := s.answer, len(s.got)
	s.got = append(s.got, r)
	s.mu.Unlock()
	if len(a.Sequence) > 0 {
		a = a.Sequence[min(n, len(a.Sequence)-1)]
	}
	time.Sleep(time.Duration(a.DelayMs) * time.Millisecond)
	for name, value := range a.Headers {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.Status)
	if a.Body != nil {
		if err := json.NewEncoder(w).Encode(a.Body); err != nil {
			panic(http.ErrAbortHandler) //nolint:forbidigo // the client receives an aborted response
		}
	}
	if a.Text != nil {
		_, _ = w.Write([]byte(*a.Text))
	}
}

func play(t *testing.T, raw json.RawMessage, answers map[string]stubAnswer) {
	t.Helper()
	stubs, hosts := map[string]*stub{}, map[string]bool{}
	for name, a := range answers {
		s := &stub{answer: a}
		server := httptest.NewServer(s)
		t.Cleanup(server.Close)
		stubs[name] = s
		hosts[strings.TrimPrefix(server.URL, "http://")] = true
		raw = bytes.ReplaceAll(raw, []byte("stub://"+name+"/"), []byte(server.URL+"/"))
		raw = bytes.ReplaceAll(raw, []byte("stub://"+name+`"`), []byte(server.URL+`"`))
	}
	var s scenario
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	server := &catalogapi.Server{
		Reader: cacheOf(t, s.Given), SubscriptionNamespace: "models-as-a-service", Timeout: 15 * time.Second,
		Prober: catalogapi.NewProber(func(_ context.Context, u *url.URL) bool { return hosts[u.Host] }, nil),
	}
	users, internal := server.Handler(), server.InternalHandler()
	if s.Steps == nil {
		s.Steps = []step{s.step}
	}
	for i, one := range s.Steps {
		handler := users
		if strings.HasPrefix(one.Request.Path, "/internal/") || one.Request.Path == "/metrics" {
			handler = internal
		}
		for _, s := range stubs {
			s.mu.Lock()
			s.got = nil
			s.mu.Unlock()
		}
		got := send(t, handler, one)
		want := one.Expect
		if one.Prefer != nil {
			want = *one.Prefer
		}
		for _, problem := range differences(want, got, stubs) {
			t.Errorf("step %d: %s", i, problem)
		}
	}
}

// cacheOf returns a reader of the objects, with defaults for the fields that a case omits.
func cacheOf(t *testing.T, given []map[string]any) client.Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := models.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	b := fake.NewClientBuilder().WithScheme(scheme)
	for _, content := range given {
		meta, _ := content["metadata"].(map[string]any)
		if meta["creationTimestamp"] == nil {
			meta["creationTimestamp"] = "2026-01-01T00:00:00Z"
		}
		if meta["deletionTimestamp"] != nil {
			meta["deletionTimestamp"], meta["finalizers"] = "2026-01-02T00:00:00Z", []any{"example.com/held"}
		}
		b.WithObjects(&unstructured.Unstructured{Object: content})
	}
	return b.Build()
}

func send(t *testing.T, handler http.Handler, one step) *httptest.ResponseRecorder {
	t.Helper()
	body := one.Request.RawBody
	if one.Request.Body != nil {
		text, err := json.Marshal(one.Request.Body)
		if err != nil {
			t.Fatal(err)
		}
		body = string(text)
	}
	r := httptest.NewRequestWithContext(t.Context(), one.Request.Method, one.Request.Path, strings.NewReader(body))
	for name, value := range one.Request.Headers {
		lines, several := value.([]any)
		if !several {
			lines = []any{value}
		}
		for _, line := range lines {
			r.Header.Add(name, fmt.Sprint(line))
		}
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

func differences(want expectation, got *httptest.ResponseRecorder, stubs map[string]*stub) (out []string) {
	report := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	text, _ := io.ReadAll(got.Body)
	if want.Status != 0 && got.Code != want.Status {
		report("status %d, want %d: %s", got.Code, want.Status, text)
	}
	for name, value := range want.Headers {
		if !matches("header "+name, value, got.Header().Get(name), report) {
			continue
		}
	}
	for _, name := range want.HeadersAbsent {
		if got.Header().Get(name) != "" {
			report("header %s is set", name)
		}
	}
	if want.Text != nil && string(text) != *want.Text {
		report("body %q, want %q", text, *want.Text)
	}
	var body any
	_ = json.Unmarshal(text, &body)
	if want.BodyExact != nil && !reflect.DeepEqual(want.BodyExact, body) {
		report("body %s, want exactly %v", text, want.BodyExact)
	}
	if want.Body != nil {
		matches("body", want.Body, body, report)
	}
	if want.Order != nil {
		if values := valuesAt(body, want.Order.Path); !reflect.DeepEqual(values, want.Order.Values) {
			report("%s is %v, want %v", want.Order.Path, values, want.Order.Values)
		}
	}
	for name, calls := range want.Calls {
		s := stubs[name]
		s.mu.Lock()
		if calls.Count != nil && len(s.got) != *calls.Count {
			report("%s got %d requests, want %d", name, len(s.got), *calls.Count)
		}
		for _, r := range s.got {
			if calls.Path != "" && r.URL.Path != calls.Path {
				report("%s got %s, want %s", name, r.URL.Path, calls.Path)
			}
		}
		for _, headers := range calls.Headers {
			found := false
			for _, r := range s.got {
				all := true
				for header, value := range headers {
					all = all && r.Header.Get(header) == value
				}
				found = found || all
			}
			if !found {
				report("%s got no request with %v", name, headers)
			}
		}
		s.mu.Unlock()
	}
	return out
}

// valuesAt returns the values at a path such as data[].id.
func valuesAt(value any, path string) []any {
	list, field, _ := strings.Cut(path, "[].")
	if list != "" {
		fields, _ := value.(map[string]any)
		value = fields[list]
	}
	items, _ := value.([]any)
	out := []any{}
	for _, item := range items {
		fields, _ := item.(map[string]any)
		out = append(out, fields[field])
	}
	return out
}

// matches compares a subset: each expected item of a list must match an actual one.
func matches(path string, want, got any, report func(string, ...any)) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			report("%s is %v, want %v", path, got, want)
			return false
		}
		fine := true
		for key, value := range w {
			if key != "__absent" {
				fine = matches(path+"."+key, value, g[key], report) && fine
				continue
			}
			for _, name := range value.([]any) {
				if _, there := g[name.(string)]; there {
					report("%s.%s is set", path, name)
					fine = false
				}
			}
		}
		return fine
	case []any:
		g, _ := got.([]any)
		for _, item := range w {
			found := false
			for _, candidate := range g {
				found = found || matches(path, item, candidate, func(string, ...any) {})
			}
			if !found {
				report("%s has no %v: %v", path, item, got)
				return false
			}
		}
		return len(w) <= len(g)
	case string:
		if pattern, is := strings.CutPrefix(w, "re:"); is {
			if text, ok := got.(string); ok && regexp.MustCompile(pattern).MatchString(text) {
				return true
			}
			report("%s is %v, want %s", path, got, w)
			return false
		}
	}
	if !reflect.DeepEqual(want, got) {
		report("%s is %v, want %v", path, got, want)
		return false
	}
	return true
}
