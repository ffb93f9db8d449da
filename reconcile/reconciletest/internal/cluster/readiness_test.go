package cluster_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
)

// TestUnready checks that a workload is ready if kubectl rollout status reports it.
func TestUnready(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{kind: Deployment, metadata: {name: a, generation: 2}, spec: {replicas: 2}, status: {observedGeneration: 2, readyReplicas: 2}}`:              "",
		`{kind: Deployment, metadata: {name: a, generation: 2}, spec: {replicas: 2}, status: {observedGeneration: 1, readyReplicas: 2}}`:              "its status describes generation 1, the spec has 2",
		`{kind: Deployment, metadata: {name: a, generation: 1}, spec: {replicas: 2}, status: {observedGeneration: 1}}`:                                "readyReplicas is 0 of 2",
		`{kind: StatefulSet, metadata: {name: a, generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1}}`:                               "",
		`{kind: DaemonSet, metadata: {name: a, generation: 1}, status: {observedGeneration: 1, numberReady: 1, desiredNumberScheduled: 3}}`:           "numberReady is 1 of 3",
		`{kind: DaemonSet, metadata: {name: a, generation: 1}, status: {observedGeneration: 1, numberReady: 3, desiredNumberScheduled: 3}}`:           "",
		`{kind: Deployment, metadata: {name: a, generation: 1}, spec: {replicas: 1}}`:                                                                 "its status describes generation 0, the spec has 1",
		`{kind: Deployment, metadata: {name: a, generation: 1}, spec: {replicas: 3}, status: {observedGeneration: 1, readyReplicas: 1, replicas: 3}}`: "readyReplicas is 1 of 3",
	} {
		if got := cluster.Unready(object(t, "{apiVersion: apps/v1, "+text[1:])); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A status of another generation is ignored.
func TestClaims(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct{ claims, saysReady bool }{
		`{}`:                      {false, false},
		`{observedGeneration: 2}`: {true, false},
		`{observedGeneration: 1}`: {false, false},
		`{conditions: [{type: Ready, status: "True"}]}`:                                                {true, true},
		`{conditions: [{type: Ready, status: "False"}]}`:                                               {false, false},
		`{conditions: [{type: Ready, status: "Unknown"}]}`:                                             {false, false},
		`{conditions: [{type: Ready, status: "True", observedGeneration: 1}]}`:                         {false, false},
		`{conditions: [{type: Ready, status: "True", observedGeneration: 2}]}`:                         {true, true},
		`{observedGeneration: 1, conditions: [{type: Ready, status: "True"}]}`:                         {false, false},
		`{observedGeneration: 2, conditions: [{type: Available, status: "True"}]}`:                     {true, false},
		`{conditions: [{type: Available, status: "True"}]}`:                                            {false, false},
		`{conditions: [{type: Synced, status: "False"}, {type: Ready, status: "True"}]}`:               {true, true},
		`{observedGeneration: 2, conditions: [{type: Ready, status: "False", observedGeneration: 2}]}`: {false, false},
	} {
		u := object(t, "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a, generation: 2}\nstatus: "+text)
		if claims, saysReady := cluster.ClaimsReady(u), cluster.ReportsReady(u); claims != want.claims || saysReady != want.saysReady {
			t.Errorf("%s: ClaimsReady: %t, ReportsReady: %t, want %t and %t", text, claims, saysReady, want.claims, want.saysReady)
		}
	}
}

func TestClaimsOfOwners(t *testing.T) {
	t.Parallel()
	pod := func(name, ready string) string {
		return `{apiVersion: v1, kind: Pod, metadata: {name: ` + name + `}, spec: {containers: [{name: c, image: i}]}, status: {conditions: [{type: Ready, status: "` + ready + `"}]}}`
	}
	w := newCluster(t, `{apiVersion: v1, kind: Namespace, metadata: {name: other}, status: {conditions: [{type: Ready, status: "True"}]}}`,
		pod("two", "True"), pod("one", "True"), pod("failing", "False"))
	perform(t, w, "A", true)
	got, err := w.Claims()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Pod default/one", "Pod default/two"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
