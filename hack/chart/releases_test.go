package chart_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/reconcilekit/reconcilekit/internal/releases"
	"helm.sh/helm/v4/pkg/chart/common"
	commonutil "helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// envCharts selects the charts of TestReleases: "all" is the charts of all examples. Default that of quickstart.
const envCharts = "CHARTS"

// TestReleases: an owner whose plan is a rendered chart keeps every value that the chart states. The chart with its default values is upgraded to
// the chart with other values.
func TestReleases(t *testing.T) {
	if testing.Short() {
		t.Skip("starts an API server")
	}
	log.SetLogger(logr.Discard())
	pattern := "quickstart"
	if os.Getenv(envCharts) == "all" {
		pattern = "*"
	}
	charts, err := filepath.Glob("../../examples/" + pattern + "/chart")
	if err != nil || len(charts) == 0 {
		t.Fatalf("no charts found: %v", err)
	}
	server, err := releases.Start(definition("ServiceMonitor"), definition("PrometheusRule"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	values := everything()
	delete(values, "fullnameOverride") // an upgrade keeps the names
	for _, folder := range charts {
		name := filepath.Base(filepath.Dir(folder))
		t.Run(name, func(t *testing.T) {
			started, report := time.Now(), &releases.Report{}
			project := releases.Project{Name: name, Releases: []releases.Release{
				{Name: name + " with default values", Text: stream(t, folder, nil)},
				{Name: name + " with all values", Text: stream(t, folder, values)},
			}}
			if err := server.Run(t.Context(), project, report); err != nil {
				t.Error(err)
			}
			if len(report.Faults) > 0 {
				t.Error("the engine does not keep what the chart states")
			}
			t.Logf("%s\n%s", time.Since(started).Round(time.Second), report)
		})
	}
}

// stream renders a chart as a stream of YAML documents.
func stream(t *testing.T, folder string, values map[string]any) string {
	t.Helper()
	loaded, err := loader.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := commonutil.ToRenderValues(loaded, values,
		common.ReleaseOptions{Name: loaded.Name(), Namespace: loaded.Name(), IsInstall: true}, common.DefaultCapabilities)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Render(loaded, rendered)
	if err != nil {
		t.Fatal(err)
	}
	var documents []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, ".yaml") {
			documents = append(documents, files[name])
		}
	}
	return strings.Join(documents, "\n---\n")
}
