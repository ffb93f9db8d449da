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
	folder = "../../config/monitoring/"
	page   = "../../docs/metrics.md"
)

// others are the metrics of controller-runtime that are used besides those of the page.
var others = []string{"workqueue_depth"}

type ruleFile struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []struct {
			Record      string            `json:"record"`
			Alert       string            `json:"alert"`
			Expr        string            `json:"expr"`
			For         string            `json:"for"`
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
		} `json:"rules"`
	} `json:"groups"`
}

func rules(t *testing.T) ruleFile {
	t.Helper()
	data, err := os.ReadFile(folder + "rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file ruleFile
	if err := yaml.UnmarshalStrict(data, &file); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestRules: every alert says what it is about and how grave it is.
func TestRules(t *testing.T) {
	t.Parallel()
	known := metrics(t)
	names := map[string]bool{}
	for _, group := range rules(t).Groups {
		for _, rule := range group.Rules {
			name := rule.Alert + rule.Record
			if (rule.Alert == "") == (rule.Record == "") || names[name] {
				t.Errorf("%s: rule %q must be one alert or one record, and only once", group.Name, name)
			}
			names[name] = true
			if rule.Alert != "" && (rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" || rule.Annotations["description"] == "") {
				t.Errorf("alert %s needs a severity, a summary and a description", rule.Alert)
			}
			check(t, name, rule.Expr, known)
		}
	}
}

// TestDashboard: every panel's expression is valid, and every metric of the page is on the dashboard or in a rule.
func TestDashboard(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(folder + "dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(data, &board); err != nil {
		t.Fatal(err)
	}
	known := metrics(t)
	used := string(data)
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			// Grafana fills these in.
			expr := strings.NewReplacer("$__rate_interval", "5m", "$controller", ".*").Replace(target.Expr)
			check(t, panel.Title, expr, known)
		}
	}
	for name := range known {
		if !strings.Contains(used, name) && !slices.Contains(others, name) {
			t.Errorf("metric %s is on no panel", name)
		}
	}
}

// check parses an expression and looks its metrics and their labels up.
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
		if !found && !slices.Contains(others, selector.Name) {
			t.Errorf("%s: there is no metric %q", where, selector.Name)
		}
		for _, matcher := range selector.LabelMatchers {
			if found && matcher.Name != "__name__" && !slices.Contains(labels, matcher.Name) {
				t.Errorf("%s: metric %q has no label %q", where, selector.Name, matcher.Name)
			}
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

// metrics are those of the reference page, with their labels.
func metrics(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `(reconcilekit_[a-z_]+)` \\| [a-z]+ \\| (.*?) \\|")
	word := regexp.MustCompile("`([a-z]+)`")
	known := map[string][]string{}
	for _, match := range row.FindAllStringSubmatch(string(data), -1) {
		known[match[1]] = []string{"controller"}
		for _, label := range word.FindAllStringSubmatch(match[2], -1) {
			known[match[1]] = append(known[match[1]], label[1])
		}
	}
	if len(known) == 0 {
		t.Fatal("the page has no metric")
	}
	return known
}
