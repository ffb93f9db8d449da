package observe

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	metricsNamespace = "reconcilekit"
	collectTimeout   = 5 * time.Second // well below the usual scrape timeout of 10 s

	// labelController is a label of every metric.
	labelController = "controller"
	// triggerRequeue is the trigger of a pass without an event: a timer, or the retry of an error.
	triggerRequeue = "requeue"
)

// The types of metrics, as in the Prometheus exposition format.
const (
	typeCounter   = "counter"
	typeGauge     = "gauge"
	typeHistogram = "histogram"
)

// metric declares one metric. The reference page docs/metrics.md is generated from these declarations.
type metric struct {
	name   string // without the namespace
	form   string
	help   string
	labels []string // in addition to labelController
}

// The metrics. A label "kind" has the kind without its group, and is empty without a kind.
//
//nolint:gochecknoglobals // constants
var (
	metricErrors = metric{
		"errors_total", typeCounter,
		"Errors of reconciliations, retried or not, by category and by the kind of the object that could not be written.",
		[]string{"category", "kind"},
	}
	metricPasses = metric{
		"passes_total", typeCounter,
		"Reconciliations by the event that triggered them (create, update, delete, generic, or requeue for a timer or a retry) and the kind of its object.",
		[]string{"trigger", "kind"},
	}
	metricWrites = metric{
		"writes_total", typeCounter,
		"Writes that the API server accepted, by verb (create, update, delete, prune, release, record) and kind, without status writes.",
		[]string{"verb", "kind"},
	}
	metricContests = metric{
		"contested_objects_total", typeCounter,
		"Planned objects with planned fields that another field manager owns, once per reconciliation.",
		[]string{"kind"},
	}
	metricApplies  = metric{"applied_objects_total", typeCounter, "Planned objects by outcome, once per reconciliation.", []string{"result"}}
	metricStatuses = metric{"status_writes_total", typeCounter, "Status writes that changed the owner.", nil}
	metricRequeues = metric{
		"requeues_total", typeCounter,
		"Reconciliations that schedule another one, by cause: error (with backoff), handled (an error that waits for a requeue), planned.",
		[]string{"cause"},
	}
	metricPhases = metric{"phase_duration_seconds", typeHistogram, "Duration of the phases of a reconciliation.", []string{"phase"}}
	metricReady  = metric{
		"ready_duration_seconds", typeHistogram,
		"Time from the creation of an owner or a change of its spec until it is ready with it. A change that the process has not seen since it leads is not counted, and " +
			"neither is one that another change replaces.", nil,
	}
	metricPanics = metric{"phase_panics_total", typeCounter, "Phases that panicked, and functions of declarations: Index, Watches, WithPredicates.", []string{"phase"}}
	metricLate   = metric{
		"cache_lag_total", typeCounter,
		"Reconciliations deferred because a cache did not show the last write, by result: deferred, expired.",
		[]string{"result"},
	}

	metricOwners = metric{"owners", typeGauge, "Owners by the status of their conditions.", []string{"condition", "status"}}
	metricOldest = metric{
		"oldest_not_ready_seconds", typeGauge,
		"Seconds since the oldest owner that is not ready became not ready; 0 when all owners are ready.", nil,
	}
	metricAges = metric{
		"condition_oldest_seconds", typeGauge,
		"Seconds since the oldest transition to this status of the condition, over all owners.",
		[]string{"condition", "status"},
	}
	metricCalls = metric{
		"external_call_duration_seconds", typeHistogram,
		"Duration of calls to external systems, by kind, verb (observe, ensure, remove) and result (ok, missing, error).",
		[]string{"kind", "verb", "result"},
	}
	metricCircuits = metric{
		"external_open_circuits", typeGauge, "External systems that are not called at present because of too many consecutive failures.",
		[]string{"kind"},
	}
	metricPaused  = metric{"paused_owners", typeGauge, "Owners that are paused by their annotation.", nil}
	metricTracked = metric{"tracked_reads", typeGauge, "Tracked reads by name or selector; a change of such an object triggers its owner.", nil}
	metricSynced  = metric{
		"cache_synced", typeGauge, "Whether the cache of the kind is synced (1) or not (0); no reconciliation runs before all are.",
		[]string{"kind"},
	}
	metricUnlisted = metric{
		"list_failures_total", typeCounter,
		"Lists and watches for the cache that failed, by kind: until they succeed, the cache shows the objects as they were.",
		[]string{"kind"},
	}
)

// allMetrics returns the metrics in the order of the reference page.
func allMetrics() []metric {
	return []metric{
		metricErrors, metricOldest, metricOwners, metricAges, metricPaused, metricPasses, metricWrites, metricContests, metricApplies,
		metricStatuses, metricRequeues, metricReady, metricPhases, metricPanics, metricLate, metricSynced, metricUnlisted, metricTracked,
		metricCalls, metricCircuits,
	}
}

// allLabels returns the labels, including that of the controller.
func (m metric) allLabels() []string { return slices.Concat([]string{labelController}, m.labels) }

func (m metric) fullName() string { return metricsNamespace + "_" + m.name }

// describe returns the description for a collector of one controller.
func (m metric) describe(controller string) *prometheus.Desc {
	return prometheus.NewDesc(m.fullName(), m.help, m.labels, prometheus.Labels{labelController: controller})
}
