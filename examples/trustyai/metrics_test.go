package main

import (
	"fmt"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// counted returns the sum of the metrics with a name and matching labels: the values of counters and gauges, the
// observations of histograms.
func counted(t *testing.T, name string, wanted func(labels map[string]string) bool) (sum float64) {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range m.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if wanted(labels) {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return sum
}

// TestMetrics checks that the metrics of the product are served under its names and count the events of a case.
func TestMetrics(t *testing.T) {
	w := newCluster(t, everyService)
	every := func(map[string]string) bool { return true }
	labelled := func(want map[string]string) func(map[string]string) bool {
		return func(labels map[string]string) bool {
			for name := range want {
				if labels[name] != want[name] {
					return false
				}
			}
			return true
		}
	}
	for name, metric := range map[string]struct {
		scenario string
		wanted   func(map[string]string) bool
		rises    float64 // minimum increase
	}{
		"trustyai_eval": {"lmes-simple-pod", labelled(map[string]string{
			"framework": "lm-evaluation-harness", "model_type": "hf", "task": "task1", "model_name": "google/flan-t5-base", "base_url": "",
		}), 1},
		"trustyai_guardrails_orchestrators": {
			"gorch-manual-config", labelled(map[string]string{"using_built_in_detectors": "false", "using_sidecar_gateway": "false"}), 1,
		},
		"evalhub_controller_reconcile_total": {
			"evalhub-deployment-drift-reverted", labelled(map[string]string{"controller": "evalhub"}), 1,
		},
		"evalhub_controller_reconcile_duration_seconds": {"evalhub-mcp-enabled", every, 1},
		"evalhub_controller_managed_instances":          {"evalhub-mcp-disable-leaves-objects", every, 1},
		"evalhub_controller_reconcile_errors_total":     {"evalhub-provider-missing", labelled(map[string]string{"controller": "evalhub"}), 1},
		"evalhub_controller_job_failure_events_total": {
			"evalhub-job-oom-reported-and-deleted", labelled(map[string]string{"failure_reason": "OOMKilled"}), 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, s := range scenarios(t) {
				if s.Name != metric.scenario {
					continue
				}
				w.configure(t, s.settings())
				p := &player{cluster: w, T: t, ns: fmt.Sprintf("counted-%d", len(name))}
				w.namespace(t, p.ns)
				before := counted(t, name, metric.wanted)
				if name == "evalhub_controller_managed_instances" { // the hub of the previous case may still exist
					before = 0
				}
				p.play(s)
				for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) { // counted after the write of the status
					rise := counted(t, name, metric.wanted) - before
					if rise >= metric.rises {
						return
					}
					if time.Now().After(end) {
						t.Fatalf("%s has risen by %v, want %v", name, rise, metric.rises)
					}
				}
			}
			t.Fatalf("no case %q", metric.scenario)
		})
	}
	deletions := labelled(map[string]string{"controller": "evalhub_deletion", "result": "success"})
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) { // the cases have deleted their hubs
		hubs, passes := counted(t, "evalhub_controller_managed_instances", every), counted(t, "evalhub_controller_reconcile_total", deletions)
		if hubs == 0 && passes > 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the metrics have %v hubs and %v reconciliations of their deletion", hubs, passes)
		}
	}
}
