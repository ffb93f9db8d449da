package monitoring_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/storage"
)

// step is the scrape and evaluation interval of these tests.
const step = time.Minute

// TestAlerts evaluates each alert as Prometheus does, with series that must fire it and with similar series that must
// not. The labels of a scrape replace the placeholder ID. A series that ends has no further samples.
func TestAlerts(t *testing.T) {
	t.Parallel()
	type test struct {
		name   string
		series string
		at     time.Duration
		want   []string // labels of the alerts that fire
	}
	const none = "{}"
	for alert, tests := range map[string][]test{
		"OperatorGone": {
			{"no target", `other 1x60`, 10 * time.Minute, []string{none}},
			{"all down", `up{ID,pod="a"} 0x60`, 10 * time.Minute, []string{none}},
			{"one is up", "up{ID,pod=\"a\"} 0x60\nup{ID,pod=\"b\"} 1x60", 10 * time.Minute, nil},
			{"a restart", `up{ID} 1x5 0x3 1x60`, 9 * time.Minute, nil},
			{"only another operator is up", `up{job="other-metrics",namespace="opendatahub"} 1x60`, 10 * time.Minute, []string{none}},
		},
		"NoLeader": {
			{"two standbys", "leader_election_master_status{ID,name=\"l\",pod=\"a\"} 0x60\nleader_election_master_status{ID,name=\"l\",pod=\"b\"} 0x60", 5 * time.Minute, []string{`{name="l"}`}},
			{"one leader", "leader_election_master_status{ID,name=\"l\",pod=\"a\"} 0x60\nleader_election_master_status{ID,name=\"l\",pod=\"b\"} 1x60", 5 * time.Minute, nil},
			{
				"a shard without a leader", "leader_election_master_status{ID,name=\"l-shard-0\"} 1x60\nleader_election_master_status{ID,name=\"l-shard-1\"} 0x60",
				5 * time.Minute,
				[]string{`{name="l-shard-1"}`},
			},
			{"a leader change", `leader_election_master_status{ID,name="l"} 1x4 0 1x60`, 6 * time.Minute, nil},
		},
		"Restarts": {
			{"a crash loop that is scraped", `process_start_time_seconds{ID,pod="a"} 1x5 2x5 3x5 4x60`, 20 * time.Minute, []string{`{pod="a"}`}},
			{"one restart", `process_start_time_seconds{ID,pod="a"} 1x5 2x60`, 20 * time.Minute, nil},
			{
				"a crash loop that is never scraped", `kube_pod_container_status_restarts_total{namespace="opendatahub",pod="NAME-5d9-x",container="manager"} 0+1x60`,
				20 * time.Minute,
				[]string{`{pod="NAME-5d9-x"}`},
			},
			{"another Pod", `kube_pod_container_status_restarts_total{namespace="opendatahub",pod="other-1",container="manager"} 0+1x60`, 20 * time.Minute, nil},
		},
		"TwoVersions": {
			{"two", "reconcilekit_build_info{ID,version=\"v1\"} 1x60\nreconcilekit_build_info{ID,version=\"v2\"} 1x60", 40 * time.Minute, []string{none}},
			{"a rollout", "reconcilekit_build_info{ID,version=\"v1\"} 1x60\nreconcilekit_build_info{ID,version=\"v2\"} _x50 1x60", 60 * time.Minute, nil},
			{"one", "reconcilekit_build_info{ID,version=\"v1\",pod=\"a\"} 1x60\nreconcilekit_build_info{ID,version=\"v1\",pod=\"b\"} 1x60", 40 * time.Minute, nil},
		},
		"MemoryNearLimit": {
			{"95 %", "process_resident_memory_bytes{ID,pod=\"a\"} 95x60\ngo_gc_gomemlimit_bytes{ID,pod=\"a\"} 100x60", 20 * time.Minute, []string{`{ID, pod="a"}`}},
			{"80 %", "process_resident_memory_bytes{ID,pod=\"a\"} 80x60\ngo_gc_gomemlimit_bytes{ID,pod=\"a\"} 100x60", 20 * time.Minute, nil},
			{"without a limit", "process_resident_memory_bytes{ID,pod=\"a\"} 5e9x60\ngo_gc_gomemlimit_bytes{ID,pod=\"a\"} 9.2e18x60", 20 * time.Minute, nil},
		},
		"CertificateExpires": { // the time of the tests starts in 1970
			{"in 10 days", `reconcilekit_webhook_certificate_not_after_seconds{ID} 864000x200`, 90 * time.Minute, []string{none}},
			{"in 30 days", `reconcilekit_webhook_certificate_not_after_seconds{ID} 2592000x200`, 90 * time.Minute, nil},
			{"no webhooks", `up{ID} 1x200`, 90 * time.Minute, nil},
		},
		"CacheNotSynced": {
			{"for a long time", `reconcilekit_cache_synced{ID,controller="c",kind="Secret",instance="a"} 0x60`, 15 * time.Minute, []string{`{controller="c", instance="a", kind="Secret"}`}},
			{
				"a crash loop: two minutes running, then five without a sample",
				`reconcilekit_cache_synced{ID,controller="c",kind="Secret",instance="a"} 0 0 stale _x4 0 0 stale _x4 0 0 stale _x4 0 0 stale _x4`,
				20 * time.Minute,
				[]string{`{controller="c", instance="a", kind="Secret"}`},
			},
			{"a start", `reconcilekit_cache_synced{ID,controller="c",kind="Secret",instance="a"} 0 1x60`, 15 * time.Minute, nil},
			{"a restart", `reconcilekit_cache_synced{ID,controller="c",kind="Secret",instance="a"} 1x10 0 1x60`, 14 * time.Minute, nil},
		},
		"CacheStale": {
			{"fails repeatedly", `reconcilekit_list_failures_total{ID,controller="c",kind="Secret"} 0+1x60`, 30 * time.Minute, []string{`{controller="c", kind="Secret"}`}},
			{"failed once", `reconcilekit_list_failures_total{ID,controller="c",kind="Secret"} 0x5 1x60`, 30 * time.Minute, nil},
		},
		"Backlog": {
			{"full", `workqueue_depth{ID,controller="c",priority="0"} 2000x60`, 20 * time.Minute, []string{`{controller="c"}`}},
			{"a start", `workqueue_depth{ID,controller="c",priority="0"} 2000x10 0x60`, 20 * time.Minute, nil},
		},
		"OwnerNotReady": {
			{"for an hour", `reconcilekit_oldest_not_ready_seconds{ID,controller="c"} 0+60x120`, 60 * time.Minute, []string{`{controller="c"}`}},
			{"for a short time", `reconcilekit_oldest_not_ready_seconds{ID,controller="c"} 0+60x10 0x120`, 60 * time.Minute, nil},
		},
		"Errors": {
			{
				"six a minute", `reconcilekit_errors_total{ID,controller="c",category="Auth",kind="Service"} 0+6x60`, 40 * time.Minute,
				[]string{`{category="Auth", controller="c", kind="Service"}`},
			},
			{"one a minute", `reconcilekit_errors_total{ID,controller="c",category="Auth",kind="Service"} 0+1x60`, 40 * time.Minute, nil},
			{"a program error", `reconcilekit_errors_total{ID,controller="c",category="ProgramError",kind=""} 0+6x60`, 40 * time.Minute, nil},
		},
		"ProgramError": {
			{"one", `reconcilekit_errors_total{ID,controller="c",category="ProgramError",kind="Service"} 0x5 1x60`, 10 * time.Minute, []string{`{controller="c", kind="Service"}`}},
			{"another error", `reconcilekit_errors_total{ID,controller="c",category="Auth",kind="Service"} 0x5 1x60`, 10 * time.Minute, nil},
		},
		"Panic": {
			{"one", `reconcilekit_phase_panics_total{ID,controller="c",phase="PlanResources"} 0x5 1x60`, 10 * time.Minute, []string{`{controller="c", phase="PlanResources"}`}},
			{"long ago", `reconcilekit_phase_panics_total{ID,controller="c",phase="PlanResources"} 0x5 1x60`, 40 * time.Minute, nil},
		},
		"FieldsContested": {
			{"again and again", `reconcilekit_contested_objects_total{ID,controller="c",kind="Service"} 0+1x60`, 40 * time.Minute, []string{`{controller="c", kind="Service"}`}},
			{"never", `reconcilekit_contested_objects_total{ID,controller="c",kind="Service"} 7x60`, 40 * time.Minute, nil},
		},
		"PruneBlocked": {
			{"two", `reconcilekit_owners{ID,controller="c",condition="PruneBlocked",status="True"} 2x60`, 20 * time.Minute, []string{`{controller="c"}`}},
			{"no longer", `reconcilekit_owners{ID,controller="c",condition="PruneBlocked",status="False"} 2x60`, 20 * time.Minute, nil},
		},
		"WritesNeverEnd": {
			{"two a second", `reconcilekit_writes_total{ID,controller="c",verb="update",kind="Service"} 0+120x120`, 90 * time.Minute, []string{`{controller="c", kind="Service"}`}},
			{"a flood that ends", `reconcilekit_writes_total{ID,controller="c",verb="create",kind="Service"} 0+120x10 1200x120`, 90 * time.Minute, nil},
			{"the inventory", `reconcilekit_writes_total{ID,controller="c",verb="record",kind="Widget"} 0+120x120`, 90 * time.Minute, nil},
		},
		"OwnersGone": {
			{
				"the CRD was deleted", "reconcilekit_owners{ID,controller=\"c\",condition=\"Ready\",status=\"True\"} 7x5 _x60\nreconcilekit_cache_synced{ID,controller=\"c\",kind=\"Widget\"} 1x60",
				12 * time.Minute,
				[]string{`{controller="c"}`},
			},
			{
				"the process restarts", "reconcilekit_owners{ID,controller=\"c\",condition=\"Ready\",status=\"True\"} 7x5 _x60\nreconcilekit_cache_synced{ID,controller=\"c\",kind=\"Widget\"} 1x5 0x60",
				12 * time.Minute, nil,
			},
			{
				"some are left", "reconcilekit_owners{ID,controller=\"c\",condition=\"Ready\",status=\"True\"} 7x5 1x60\nreconcilekit_cache_synced{ID,controller=\"c\",kind=\"Widget\"} 1x60",
				12 * time.Minute, nil,
			},
			{
				"the only one", "reconcilekit_owners{ID,controller=\"c\",condition=\"Ready\",status=\"True\"} 1x5 _x60\nreconcilekit_cache_synced{ID,controller=\"c\",kind=\"Widget\"} 1x60",
				12 * time.Minute, nil,
			},
		},
		"OwnersPaused": {
			{"for two days", `reconcilekit_paused_owners{ID,controller="c"} 1x2880`, 48 * time.Hour, []string{`{controller="c"}`}},
			{"for an hour", `reconcilekit_paused_owners{ID,controller="c"} 1x2880`, time.Hour, nil},
		},
	} {
		t.Run(alert, func(t *testing.T) {
			t.Parallel()
			r := find(t, "Reconcilekit"+alert)
			fires := map[bool]int{}
			for _, c := range tests {
				var want []string
				for _, labels := range c.want {
					want = append(want, here(labels, true))
				}
				if diff := cmp.Diff(want, firing(t, r, here(c.series, false), c.at)); diff != "" {
					t.Errorf("%s: alerts after %s (-want +got):\n%s", c.name, c.at, diff)
				}
				fires[len(want) > 0]++
			}
			if fires[true] == 0 || fires[false] == 0 {
				t.Error("want series that fire the alert, and series that do not")
			}
		})
	}
}

// TestStoriesAreDocumented checks that docs/operations.md has a row for each story of make stories.
func TestStoriesAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("../stories.sh")
	if err != nil {
		t.Fatal(err)
	}
	stories := 0
	for line := range strings.Lines(string(script)) {
		fields := strings.Split(strings.TrimSpace(line), " ; ")
		if len(fields) != 4 {
			continue
		}
		stories++
		if row := "| " + fields[2] + " | " + fields[3] + " |\n"; !strings.Contains(string(page), row) {
			t.Errorf("docs/operations.md has no row %s", row)
		}
	}
	if stories == 0 {
		t.Error("hack/stories.sh has no stories")
	}
}

// TestEachAlertIsDocumented checks that docs/operations.md says what to do for each alert, and that this package tests
// each alert.
func TestEachAlertIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile("alerts_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(alerts(t))) {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/operations.md does not describe the alert %s", name)
		}
		if !strings.Contains(string(tests), `"`+strings.TrimPrefix(name, "Reconcilekit")+`": {`) {
			t.Errorf("no test covers the alert %s", name)
		}
	}
}

// TestOwnersOfAStandby checks that the dashboard counts each owner once, although every process has all owners in its
// cache.
func TestOwnersOfAStandby(t *testing.T) {
	t.Parallel()
	for _, panel := range panels(t) {
		if panel.Title != "Owners that are not ready" {
			continue
		}
		series := here(`reconcilekit_owners{ID,controller="c",condition="Ready",status="False",pod="a"} 2x5
reconcilekit_owners{ID,controller="c",condition="Ready",status="Unknown",pod="a"} 1x5
reconcilekit_owners{ID,controller="c",condition="Ready",status="False",pod="b"} 2x5
reconcilekit_owners{ID,controller="c",condition="Ready",status="Unknown",pod="b"} 1x5`, false)
		vector := evaluate(t, load(t, series), engine(t), filled(panel.Targets[0].Expr), time.Minute)
		if len(vector) != 1 || vector[0].F != 3 {
			t.Errorf("got %v, want 3 owners", vector)
		}
		return
	}
	t.Error("the dashboard has no such panel")
}

// here replaces the placeholders by the labels and the name of the installation.
func here(text string, sorted bool) string {
	labels := `job="` + job + `",namespace="` + namespace + `"`
	if sorted {
		labels = strings.ReplaceAll(labels, ",", ", ")
	}
	return strings.NewReplacer("ID", labels, "NAME", name).Replace(text)
}

func load(t *testing.T, series string) storage.Queryable {
	t.Helper()
	loaded := promqltest.LoadedStorage(t, "load 1m\n  "+strings.ReplaceAll(series, "\n", "\n  "))
	t.Cleanup(func() {
		if err := loaded.Close(); err != nil {
			t.Error(err)
		}
	})
	return loaded
}

func engine(t *testing.T) *promql.Engine {
	t.Helper()
	return promqltest.NewTestEngine(t, false, 5*time.Minute, 1_000_000)
}

func evaluate(t *testing.T, from storage.Queryable, engine *promql.Engine, expr string, at time.Duration) promql.Vector {
	t.Helper()
	query, err := engine.NewInstantQuery(t.Context(), from, nil, expr, time.Unix(0, 0).Add(at))
	if err != nil {
		t.Fatal(err)
	}
	defer query.Close()
	vector, err := query.Exec(t.Context()).Vector()
	if err != nil {
		t.Fatal(err)
	}
	return vector
}

// firing returns the labels of the alerts that fire at a time: those whose expression had a result in each evaluation
// for the duration For.
func firing(t *testing.T, r rule, series string, at time.Duration) (found []string) {
	t.Helper()
	held, err := model.ParseDuration(r.For)
	if err != nil {
		t.Fatal(err)
	}
	loaded, engine, active := load(t, series), engine(t), map[string]time.Duration{}
	for now := time.Duration(0); now <= at; now += step {
		present := map[string]bool{}
		for _, sample := range evaluate(t, loaded, engine, r.Expr, now) {
			labels := sample.Metric.DropReserved(func(name string) bool { return name == model.MetricNameLabel }).String()
			present[labels] = true
			if _, known := active[labels]; !known {
				active[labels] = now
			}
		}
		maps.DeleteFunc(active, func(labels string, _ time.Duration) bool { return !present[labels] })
	}
	for labels, since := range active {
		if at-since >= time.Duration(held) {
			found = append(found, labels)
		}
	}
	slices.Sort(found)
	return found
}
