package monitoring_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"
)

const (
	folder    = "../../examples/modelregistry/config/monitoring/" // an operator with webhooks
	name      = "model-registry-operator"
	job       = "model-registry-operator-controller-manager-metrics-service" // name of its metrics Service
	namespace = "opendatahub"
	page      = "../../docs/metrics.md"
)

// others returns the metrics with their labels that docs/metrics.md omits: those of the process (docs/operations.md),
// controller-runtime, client_golang, Prometheus and kube-state-metrics.
func others() map[string][]string {
	return map[string][]string{
		"reconcilekit_build_info": {"operator", "version", "revision", "go"}, "reconcilekit_webhook_certificate_not_after_seconds": nil,
		"workqueue_depth": {"controller", "name", "priority"}, "leader_election_master_status": {"name"},
		"process_resident_memory_bytes": nil, "process_start_time_seconds": nil, "go_gc_gomemlimit_bytes": nil,
		"up": nil, "kube_pod_container_status_restarts_total": {"container"},
	}
}

// scraped returns the labels that a scrape adds.
func scraped() []string { return []string{"job", "namespace", "pod", "instance"} }

type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

type panel struct {
	Title   string `json:"title"`
	Targets []struct {
		Expr string `json:"expr"`
	} `json:"targets"`
}

// read decodes the fields of a manifest that the tests check.
func read(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(folder + file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// alerts returns the rules of an installation by name.
func alerts(t *testing.T) map[string]rule {
	t.Helper()
	var manifest struct {
		Spec struct {
			Groups []struct {
				Rules []rule `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}
	read(t, "rules.yaml", &manifest)
	found := map[string]rule{}
	for _, group := range manifest.Spec.Groups {
		for _, r := range group.Rules {
			if _, twice := found[r.Alert]; twice || r.Alert == "" {
				t.Errorf("want one alert with the name %q", r.Alert)
			}
			found[r.Alert] = r
		}
	}
	return found
}

func find(t *testing.T, alert string) rule {
	t.Helper()
	r, found := alerts(t)[alert]
	if !found {
		t.Fatalf("there is no alert %s", alert)
	}
	return r
}

// panels returns the panels of the dashboard.
func panels(t *testing.T) []panel {
	t.Helper()
	var manifest struct {
		Data map[string]string `json:"data"`
	}
	read(t, "dashboard.yaml", &manifest)
	var board struct {
		Panels []panel `json:"panels"`
	}
	for _, text := range manifest.Data {
		if err := json.Unmarshal([]byte(text), &board); err != nil {
			t.Fatal(err)
		}
	}
	if len(board.Panels) == 0 {
		t.Fatal("the dashboard has no panel")
	}
	return board.Panels
}

// filled replaces the variables of Grafana in an expression.
func filled(expr string) string {
	return strings.NewReplacer("$__rate_interval", "5m", "$controller", ".*", "$job", job, "$namespace", namespace).Replace(expr)
}

// TestRules checks that every alert has a severity, a summary and a description, and selects only the metrics of its
// installation.
func TestRules(t *testing.T) {
	t.Parallel()
	known := metrics(t)
	for _, r := range alerts(t) {
		if r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
			t.Errorf("alert %s needs a severity, a summary and a description", r.Alert)
		}
		check(t, r.Alert, r.Expr, known)
	}
}

// TestDashboard checks that the expression of every panel is valid, and that the dashboard shows every metric of the
// page.
func TestDashboard(t *testing.T) {
	t.Parallel()
	known := metrics(t)
	var used strings.Builder
	for _, panel := range panels(t) {
		for _, target := range panel.Targets {
			check(t, panel.Title, filled(target.Expr), known)
			used.WriteString(target.Expr)
		}
	}
	for name := range known {
		if _, other := others()[name]; !other && !strings.Contains(used.String(), name) {
			t.Errorf("metric %s is on no panel", name)
		}
	}
}

// check parses an expression and checks that its metrics and labels exist.
func check(t *testing.T, where, expr string, known map[string][]string) {
	t.Helper()
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		selector, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		labels, found := known[strings.TrimSuffix(selector.Name, "_bucket")]
		if !found {
			t.Errorf("%s: there is no metric %q", where, selector.Name)
		}
		here := false
		for _, matcher := range selector.LabelMatchers {
			here = here || matcher.Name == "namespace" && matcher.Value == namespace
			if found && matcher.Name != "__name__" && !slices.Contains(labels, matcher.Name) {
				t.Errorf("%s: metric %q has no label %q", where, selector.Name, matcher.Name)
			}
		}
		if !here {
			t.Errorf("%s: %s also selects the metrics of other installations", where, selector)
		}
		return nil
	})
	for _, match := range regexp.MustCompile(`by \(([^)]*)\)`).FindAllStringSubmatch(expr, -1) {
		for label := range strings.SplitSeq(match[1], ", ") {
			if label != "le" && !slices.ContainsFunc(allLabels(known), func(l string) bool { return l == label }) {
				t.Errorf("%s: no metric has a label %q", where, label)
			}
		}
	}
}

func allLabels(known map[string][]string) (all []string) {
	for _, labels := range known {
		all = append(all, labels...)
	}
	return all
}

// metrics returns the metrics of the reference page with their labels.
func metrics(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `(reconcilekit_[a-z_]+)` \\| [a-z]+ \\| (.*?) \\|")
	word := regexp.MustCompile("`([a-z]+)`")
	known := map[string][]string{}
	for name, labels := range others() {
		known[name] = append(scraped(), labels...)
	}
	for _, match := range row.FindAllStringSubmatch(string(data), -1) {
		known[match[1]] = append(scraped(), "controller")
		for _, label := range word.FindAllStringSubmatch(match[2], -1) {
			known[match[1]] = append(known[match[1]], label[1])
		}
	}
	if len(known) == len(others()) {
		t.Fatal("the page has no metric")
	}
	return known
}
