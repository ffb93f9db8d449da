package routing_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/routing"
)

// TestLimitsOfCRD reads the limits from the CRD of the Gateway API module, and checks that a route at a limit is
// accepted and one above is rejected.
func TestLimitsOfCRD(t *testing.T) {
	t.Parallel()
	crd := loadCRD(t)
	for path, set := range map[string]func(*routing.Route, int){
		"parentRefs maxItems": func(r *routing.Route, n int) {
			r.Parents = repeat(n, func(i int) gatewayv1.ParentReference {
				return gatewayv1.ParentReference{Name: gatewayv1.ObjectName(fmt.Sprint("g", i))}
			})
		},
		"hostnames maxItems": func(r *routing.Route, n int) {
			r.Hostnames = repeat(n, func(i int) string { return fmt.Sprintf("h%d.test", i) })
		},
		"hostnames items maxLength": func(r *routing.Route, n int) { r.Hostnames = []string{strings.Repeat("a", n)} },
		"rules maxItems":            func(r *routing.Route, n int) { r.Rules = repeat(n, func(int) routing.Rule { return r.Rules[0] }) },
		"rules items matches maxItems": func(r *routing.Route, n int) {
			r.Rules[0].Matches = repeat(n, func(int) routing.Match { return routing.Match{Path: "/a"} })
		},
		"rules items backendRefs maxItems": func(r *routing.Route, n int) {
			r.Rules[0].Backends = repeat(n, func(int) routing.Backend { return r.Rules[0].Backends[0] })
		},
		"rules items matches items path value maxLength": func(r *routing.Route, n int) { r.Rules[0].Matches[0].Path = "/" + strings.Repeat("a", n-1) },
		"rules items matches items headers maxItems":     func(r *routing.Route, n int) { r.Rules[0].Matches[0].Headers = values(n) },
		"rules items matches items queryParams maxItems": func(r *routing.Route, n int) { r.Rules[0].Matches[0].Query = values(n) },
		"rules items matches items headers items value maxLength": func(r *routing.Route, n int) {
			r.Rules[0].Matches[0].Headers = []routing.ValueMatch{{Name: "a", Value: strings.Repeat("b", n)}}
		},
		"rules items matches items headers items name maxLength": func(r *routing.Route, n int) {
			r.Rules[0].Matches[0].Headers = []routing.ValueMatch{{Name: strings.Repeat("a", n), Value: "b"}}
		},
		"rules items matches items queryParams items value maxLength": func(r *routing.Route, n int) {
			r.Rules[0].Matches[0].Query = []routing.ValueMatch{{Name: "a", Value: strings.Repeat("b", n)}}
		},
		"rules items backendRefs items weight maximum": func(r *routing.Route, n int) { r.Rules[0].Backends[0].Weight = new(int32(n)) },
		"rules items backendRefs items port maximum":   func(r *routing.Route, n int) { r.Rules[0].Backends[0].Port = int32(n) },
		"rules items backendRefs items name maxLength": func(r *routing.Route, n int) { r.Rules[0].Backends[0].Name = strings.Repeat("a", n) },
		"rules items name maxLength":                   func(r *routing.Route, n int) { r.Rules[0].Name = strings.Repeat("a", n) },
		"parentRefs items sectionName maxLength": func(r *routing.Route, n int) {
			r.Parents[0].SectionName = new(gatewayv1.SectionName(strings.Repeat("a", n)))
		},
		"rules items filters items requestHeaderModifier set maxItems": func(r *routing.Route, n int) {
			r.Rules[0].SetHeaders = repeat(n, func(i int) routing.Header { return routing.Header{Name: fmt.Sprint("h", i), Value: "v"} })
		},
		"rules items filters items urlRewrite path replacePrefixMatch maxLength": func(r *routing.Route, n int) {
			r.Rules[0].ReplacePrefix = new(strings.Repeat("/", n))
		},
	} {
		limit := crd.limit(t, path)
		plan := validPlan()
		set(&plan, limit)
		if _, err := routing.NewHTTPRoute(plan); err != nil {
			t.Errorf("%s: %d is rejected: %v", path, limit, err)
		}
		plan = validPlan()
		set(&plan, limit+1)
		_, err := routing.NewHTTPRoute(plan)
		checkOutcome(t, err, "HTTPRouteInvalid", "spec.")
	}
	for _, matches := range []int{128, 129} {
		plan := validPlan()
		plan.Rules = repeat(3, func(int) routing.Rule { return plan.Rules[0] })
		for i, count := range []int{64, 60, matches - 124} {
			plan.Rules[i].Matches = repeat(count, func(int) routing.Match { return routing.Match{Path: "/a"} })
		}
		if _, err := routing.NewHTTPRoute(plan); (err == nil) != (matches == 128) {
			t.Errorf("%d matches: %v", matches, err)
		}
	}
}

func values(n int) []routing.ValueMatch {
	return repeat(n, func(i int) routing.ValueMatch { return routing.ValueMatch{Name: fmt.Sprint("v", i), Value: "x"} })
}

func repeat[T any](n int, item func(int) T) []T {
	items := make([]T, n)
	for i := range items {
		items[i] = item(i)
	}
	return items
}

// schema is a node of an OpenAPI schema.
type schema map[string]any

func loadCRD(t *testing.T) schema {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(strings.TrimSpace(string(dir)), "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var crd struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct {
					OpenAPIV3Schema struct{ Properties struct{ Spec schema } }
				}
			}
		}
	}
	decoder := yaml.NewYAMLOrJSONDecoder(file, 4096)
	for len(crd.Spec.Versions) == 0 {
		if err := decoder.Decode(&crd); err != nil {
			t.Fatal(err)
		}
	}
	for _, version := range crd.Spec.Versions {
		if version.Name == "v1" {
			return version.Schema.OpenAPIV3Schema.Properties.Spec
		}
	}
	t.Fatal("the CRD has no version v1")
	return nil
}

// limit returns the limit at a path of property names, with "items" for the elements of a list.
func (s schema) limit(t *testing.T, path string) int {
	t.Helper()
	at := map[string]any(s)
	words := strings.Fields(path)
	for _, word := range words[:len(words)-1] {
		if properties, ok := at["properties"].(map[string]any); ok && properties[word] != nil {
			at, _ = properties[word].(map[string]any)
			continue
		}
		next, ok := at[word].(map[string]any)
		if !ok {
			t.Fatalf("%s: the CRD has no %s", path, word)
		}
		at = next
	}
	limit, ok := at[words[len(words)-1]].(float64)
	if !ok {
		t.Fatalf("the CRD has no %s", path)
	}
	return int(limit)
}
