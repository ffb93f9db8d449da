package observe

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

const metricsPage = "../../../../docs/metrics.md"

// TestMetricsPage keeps the reference page equal to the declarations; UPDATE_GOLDEN=1 writes it.
func TestMetricsPage(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	page.WriteString("# Metrics\n\nThis page is generated from the code (`UPDATE_GOLDEN=1 go test ./reconcile/controller/internal/observe -run TestMetricsPage`).\n\n" +
		"Every metric has the label `controller`. No label names an object, and no label value contains a space. An operator also exports the\n" +
		"metrics of controller-runtime (`controller_runtime_*`, `workqueue_*`, `rest_client_*`) and two of the process, see\n" +
		"[operations](operations.md#metrics).\n\n" +
		"| metric | type | other labels | meaning |\n|---|---|---|---|\n")
	for _, m := range allMetrics() {
		labels := ""
		if len(m.labels) > 0 {
			labels = "`" + strings.Join(m.labels, "`, `") + "`"
		}
		_, _ = fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", m.fullName(), m.form, labels, m.help)
	}
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(metricsPage, []byte(page.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Error("the page was written; run the test again without UPDATE_GOLDEN")
	}
	golden, err := os.ReadFile(metricsPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(golden), page.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", metricsPage, diff)
	}
}

// TestMetricsAreDeclared checks that the registered metrics and labels are those of the page.
func TestMetricsAreDeclared(t *testing.T) {
	t.Parallel()
	registry := &descriptions{}
	if _, err := NewObserver(registry, "c", nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := RegisterState(registry, "c", nil, nil, "", nil); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, m := range allMetrics() {
		d := prometheus.NewDesc(m.fullName(), m.help, m.allLabels(), nil)
		if m.form == typeGauge || m.name == metricUnlisted.name { // the others are vectors
			d = m.describe("c")
		}
		want = append(want, d.String())
	}
	slices.Sort(want)
	slices.Sort(registry.list)
	if diff := cmp.Diff(want, registry.list); diff != "" {
		t.Errorf("metrics (-declared +registered):\n%s", diff)
	}
}

// descriptions is a registry that only records the registered collectors.
type descriptions struct{ list []string }

func (d *descriptions) Register(c prometheus.Collector) error {
	found := make(chan *prometheus.Desc)
	go func() {
		c.Describe(found)
		close(found)
	}()
	for one := range found {
		d.list = append(d.list, one.String())
	}
	return nil
}

func (d *descriptions) MustRegister(...prometheus.Collector) {}

func (d *descriptions) Unregister(prometheus.Collector) bool { return true }
