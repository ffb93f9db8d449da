package routing_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/routing"
)

// validPlan returns a small valid route.
func validPlan() routing.Route {
	return routing.Route{
		Namespace: "team-a", Name: "demo",
		Parents: []gatewayv1.ParentReference{{Name: "public"}},
		Rules: []routing.Rule{{
			Matches:  []routing.Match{{Path: "/demo"}},
			Backends: []routing.Backend{{Name: "demo", Port: 80}},
		}},
	}
}

// TestNewHTTPRouteMinimal checks that fields missing in the plan are not set in the object.
func TestNewHTTPRouteMinimal(t *testing.T) {
	t.Parallel()
	route, err := routing.NewHTTPRoute(validPlan())
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(route)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"kind":"HTTPRoute","apiVersion":"gateway.networking.k8s.io/v1","metadata":{"name":"demo","namespace":"team-a"},` +
		`"spec":{"parentRefs":[{"name":"public"}],"rules":[{"matches":[{"path":{"type":"PathPrefix","value":"/demo"}}],` +
		`"backendRefs":[{"name":"demo","port":80}]}]},"status":{"parents":null}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func fullPlan() routing.Route {
	plan := validPlan()
	plan.Labels, plan.Annotations = map[string]string{"app": "demo"}, map[string]string{"example.com/Note": "any text"}
	plan.Hostnames = []string{"*.example.com", "a.test"}
	plan.Parents = append(plan.Parents, gatewayv1.ParentReference{
		Group: new(gatewayv1.Group("")), Kind: new(gatewayv1.Kind("Service")), Namespace: new(gatewayv1.Namespace("mesh")),
		Name: "demo", SectionName: new(gatewayv1.SectionName("http")), Port: new(gatewayv1.PortNumber(80)),
	})
	plan.Rules[0] = routing.Rule{
		Name: "main", ReplacePrefix: new("/"), Hostname: "demo.internal",
		SetHeaders:     []routing.Header{{Name: "X-Tenant", Value: "team-a"}},
		Timeout:        new(gatewayv1.Duration("1m30s")),
		BackendTimeout: new(gatewayv1.Duration("30s")),
		Matches: []routing.Match{{
			Path: "/demo", Method: gatewayv1.HTTPMethodGet,
			Headers: []routing.ValueMatch{{Name: "X-Version", Value: "2"}, {Name: "X-Kind", Value: "a.*", Regexp: true}},
			Query:   []routing.ValueMatch{{Name: "q", Value: "x"}, {Name: "Q", Value: "y"}},
		}},
		Backends: []routing.Backend{
			{Name: "demo", Namespace: "team-b", Port: 80, Weight: new(int32(90))},
			{Name: "canary", Group: "example.com", Kind: "Backend", Weight: new(int32(0))},
		},
	}
	return plan
}

func TestNewHTTPRouteFull(t *testing.T) {
	t.Parallel()
	plan := fullPlan()
	route, err := routing.NewHTTPRoute(plan)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(route.Spec, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "full-route.json"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSpace(string(want)), string(got)); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	again, err := routing.NewHTTPRoute(plan)
	if err != nil {
		t.Fatal(err)
	}
	plan.Labels["app"], *plan.Rules[0].ReplacePrefix, *plan.Parents[1].Namespace = "changed", "/changed", "changed"
	if diff := cmp.Diff(again, route); diff != "" {
		t.Errorf("equal plans differ:\n%s", diff)
	}
	if route.Labels["app"] != "demo" || *route.Spec.ParentRefs[1].Namespace != "mesh" {
		t.Error("the route shares memory with the plan")
	}
}

func TestNewHTTPRouteFaults(t *testing.T) {
	t.Parallel()
	match := func(change func(*routing.Match)) func(*routing.Route) {
		return func(r *routing.Route) { change(&r.Rules[0].Matches[0]) }
	}
	rule := func(change func(*routing.Rule)) func(*routing.Route) {
		return func(r *routing.Route) { change(&r.Rules[0]) }
	}
	backend := func(change func(*routing.Backend)) func(*routing.Route) {
		return func(r *routing.Route) { change(&r.Rules[0].Backends[0]) }
	}
	parents := func(parents ...gatewayv1.ParentReference) func(*routing.Route) {
		return func(r *routing.Route) { r.Parents = parents }
	}
	section := func(name string) gatewayv1.ParentReference {
		return gatewayv1.ParentReference{Name: "a", SectionName: new(gatewayv1.SectionName(name))}
	}
	for name, test := range map[string]struct {
		change func(*routing.Route)
		want   string
	}{
		"namespace":                 {func(r *routing.Route) { r.Namespace = "" }, "metadata.namespace: Required"},
		"name":                      {func(r *routing.Route) { r.Name = "Demo" }, `metadata.name: Invalid value: "Demo"`},
		"label":                     {func(r *routing.Route) { r.Labels = map[string]string{"a": "b c"} }, `metadata.labels[a]: Invalid value: "b c"`},
		"label key":                 {func(r *routing.Route) { r.Labels = map[string]string{"a/b/c": ""} }, `metadata.labels: Invalid value: "a/b/c"`},
		"annotation key":            {func(r *routing.Route) { r.Annotations = map[string]string{"-": ""} }, `metadata.annotations: Invalid value: "-"`},
		"no parent":                 {parents(), "spec.parentRefs: Required value: name the gateway"},
		"parent name":               {parents(gatewayv1.ParentReference{}), "spec.parentRefs[0].name: Required"},
		"parent kind":               {parents(gatewayv1.ParentReference{Name: "a", Kind: new(gatewayv1.Kind("x/y"))}), "spec.parentRefs[0].kind: Invalid"},
		"parent group":              {parents(gatewayv1.ParentReference{Name: "a", Group: new(gatewayv1.Group("X"))}), "spec.parentRefs[0].group: Invalid"},
		"parent namespace":          {parents(gatewayv1.ParentReference{Name: "a", Namespace: new(gatewayv1.Namespace("a.b"))}), "spec.parentRefs[0].namespace: Invalid"},
		"parent section":            {parents(section("A")), "spec.parentRefs[0].sectionName: Invalid"},
		"parent port":               {parents(gatewayv1.ParentReference{Name: "a", Port: new(gatewayv1.PortNumber(0))}), "spec.parentRefs[0].port: Invalid"},
		"parent twice":              {parents(section("a"), section("a")), "spec.parentRefs[1]: Duplicate"},
		"parent with and without":   {parents(section("a"), gatewayv1.ParentReference{Name: "a"}), "spec.parentRefs[1].sectionName: Required"},
		"hostname":                  {func(r *routing.Route) { r.Hostnames = []string{"a.*.test"} }, "spec.hostnames[0]: Invalid"},
		"hostname with port":        {func(r *routing.Route) { r.Hostnames = []string{"a.test:80"} }, "spec.hostnames[0]: Invalid"},
		"no rule":                   {func(r *routing.Route) { r.Rules = nil }, "spec.rules: Required"},
		"rule name":                 {rule(func(r *routing.Rule) { r.Name = "A" }), "spec.rules[0].name: Invalid"},
		"rule name twice":           {func(r *routing.Route) { r.Rules[0].Name = "a"; r.Rules = append(r.Rules, r.Rules[0]) }, "spec.rules[1].name: Duplicate"},
		"no match":                  {rule(func(r *routing.Rule) { r.Matches = nil }), "spec.rules[0].matches: Required"},
		"empty match":               {match(func(m *routing.Match) { m.Path = "" }), "spec.rules[0].matches[0]: Required"},
		"type without path":         {match(func(m *routing.Match) { m.Path, m.PathType = "", gatewayv1.PathMatchExact }), "path.value: Required"},
		"relative path":             {match(func(m *routing.Match) { m.Path = "a" }), `must start with "/"`},
		"double slash":              {match(func(m *routing.Match) { m.Path = "/a//b" }), `must not contain "//"`},
		"dot segment":               {match(func(m *routing.Match) { m.Path = "/a/./b" }), `must not contain "/./"`},
		"climbing":                  {match(func(m *routing.Match) { m.Path = "/a/../b" }), `must not contain "/../"`},
		"parent segment at the end": {match(func(m *routing.Match) { m.Path = "/a/.." }), `must not end with "/.."`},
		"dot at the end":            {match(func(m *routing.Match) { m.Path = "/a/." }), `must not end with "/."`},
		"encoded slash":             {match(func(m *routing.Match) { m.Path = "/a%2fb" }), `must not contain "%2f"`},
		"fragment":                  {match(func(m *routing.Match) { m.Path = "/a#b" }), `must not contain "#"`},
		"space":                     {match(func(m *routing.Match) { m.Path = "/a b" }), "percent-encode"},
		"path type":                 {match(func(m *routing.Match) { m.PathType = "Glob" }), `path.type: Unsupported value: "Glob"`},
		"method":                    {match(func(m *routing.Match) { m.Method = "get" }), `method: Unsupported value: "get"`},
		"header name":               {match(func(m *routing.Match) { m.Headers = []routing.ValueMatch{{Name: "a b", Value: "c"}} }), "headers[0].name: Invalid"},
		"header value":              {match(func(m *routing.Match) { m.Headers = []routing.ValueMatch{{Name: "a"}} }), "headers[0].value: Required"},
		"header twice": {match(func(m *routing.Match) {
			m.Headers = []routing.ValueMatch{{Name: "a", Value: "1"}, {Name: "A", Value: "2"}}
		}), "headers[1].name: Duplicate"},
		"query twice": {match(func(m *routing.Match) {
			m.Query = []routing.ValueMatch{{Name: "a", Value: "1"}, {Name: "a", Value: "2"}}
		}), "queryParams[1].name: Duplicate"},
		"rewrite of two matches": {rule(func(r *routing.Rule) { r.ReplacePrefix = new("/"); r.Matches = append(r.Matches, r.Matches[0]) }), "exactly one match"},
		"rewrite of exact path": {rule(func(r *routing.Rule) {
			r.ReplacePrefix, r.Matches[0].PathType = new("/"), gatewayv1.PathMatchExact
		}), "exactly one match"},
		"rewrite host":     {rule(func(r *routing.Rule) { r.Hostname = "*.test" }), "filters.hostname: Invalid"},
		"set header twice": {rule(func(r *routing.Rule) { r.SetHeaders = []routing.Header{{"a", "1"}, {"A", "2"}} }), "set[1].name: Duplicate"},
		"timeout":          {rule(func(r *routing.Rule) { r.Timeout = new(gatewayv1.Duration("1.5s")) }), `timeouts.request: Invalid value: "1.5s"`},
		"backend timeout":  {rule(func(r *routing.Rule) { r.BackendTimeout = new(gatewayv1.Duration("1d")) }), "timeouts.backendRequest: Invalid"},
		"timeouts in wrong order": {rule(func(r *routing.Rule) {
			r.Timeout, r.BackendTimeout = new(gatewayv1.Duration("1s")), new(gatewayv1.Duration("2s"))
		}), "must not be longer than the request timeout 1s"},
		"backend name":      {backend(func(b *routing.Backend) { b.Name = "" }), "backendRefs[0].name: Required"},
		"backend namespace": {backend(func(b *routing.Backend) { b.Namespace = "A" }), "backendRefs[0].namespace: Invalid"},
		"backend kind":      {backend(func(b *routing.Backend) { b.Kind = "1" }), "backendRefs[0].kind: Invalid"},
		"backend group":     {backend(func(b *routing.Backend) { b.Group = "A" }), "backendRefs[0].group: Invalid"},
		"no port":           {backend(func(b *routing.Backend) { b.Port = 0 }), "backendRefs[0].port: Required"},
		"port":              {backend(func(b *routing.Backend) { b.Port = 65536 }), "backendRefs[0].port: Invalid"},
		"negative weight":   {backend(func(b *routing.Backend) { b.Weight = new(int32(-1)) }), "backendRefs[0].weight: Invalid"},
		"many faults":       {func(r *routing.Route) { r.Hostnames = strings.Split("A B C D E F G", " ") }, "; and 2 more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := validPlan()
			test.change(&plan)
			route, err := routing.NewHTTPRoute(plan)
			if route != nil {
				t.Error("got a route in addition to the error")
			}
			checkOutcome(t, err, "HTTPRouteInvalid", test.want)
		})
	}
}

func TestNewHTTPRouteAccepts(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*routing.Route){
		"no request timeout": func(r *routing.Route) {
			r.Rules[0].Timeout, r.Rules[0].BackendTimeout = new(gatewayv1.Duration("0s")), new(gatewayv1.Duration("5s"))
		},
		"regular expression": func(r *routing.Route) {
			r.Rules[0].Matches[0] = routing.Match{Path: "a|b", PathType: gatewayv1.PathMatchRegularExpression}
		},
		"method alone": func(r *routing.Route) { r.Rules[0].Matches[0] = routing.Match{Method: "GET"} },
		"no backend":   func(r *routing.Route) { r.Rules[0].Backends = nil },
		"parents by namespace": func(r *routing.Route) {
			r.Parents = append(r.Parents, gatewayv1.ParentReference{Name: "public", Namespace: new(gatewayv1.Namespace("b"))})
		},
		"two listeners": func(r *routing.Route) {
			r.Parents = []gatewayv1.ParentReference{{Name: "a", SectionName: new(gatewayv1.SectionName("x"))}, {Name: "a", SectionName: new(gatewayv1.SectionName("y"))}}
		},
	} {
		plan := validPlan()
		change(&plan)
		if _, err := routing.NewHTTPRoute(plan); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
