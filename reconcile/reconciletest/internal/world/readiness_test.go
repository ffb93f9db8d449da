package world_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/world"
)

// A workload is ready when kubectl rollout status says so.
func TestUnready(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{kind: Deployment, metadata: {name: a, generation: 2}, spec: {replicas: 2}, status: {observedGeneration: 2, readyReplicas: 2}}`:              "",
		`{kind: Deployment, metadata: {name: a, generation: 2}, spec: {replicas: 2}, status: {observedGeneration: 1, readyReplicas: 2}}`:              "its status is about generation 1, the spec has 2",
		`{kind: Deployment, metadata: {name: a, generation: 1}, spec: {replicas: 2}, status: {observedGeneration: 1}}`:                                "readyReplicas is 0 of 2",
		`{kind: StatefulSet, metadata: {name: a, generation: 1}, spec: {replicas: 0}, status: {observedGeneration: 1}}`:                               "",
		`{kind: DaemonSet, metadata: {name: a, generation: 1}, status: {observedGeneration: 1, numberReady: 1, desiredNumberScheduled: 3}}`:           "numberReady is 1 of 3",
		`{kind: DaemonSet, metadata: {name: a, generation: 1}, status: {observedGeneration: 1, numberReady: 3, desiredNumberScheduled: 3}}`:           "",
		`{kind: Deployment, metadata: {name: a, generation: 1}, spec: {replicas: 1}}`:                                                                 "its status is about generation 0, the spec has 1",
		`{kind: Deployment, metadata: {name: a, generation: 1}, spec: {replicas: 3}, status: {observedGeneration: 1, readyReplicas: 1, replicas: 3}}`: "readyReplicas is 1 of 3",
	} {
		if got := world.Unready(object(t, "{apiVersion: apps/v1, "+text[1:])); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A status that speaks of another generation claims nothing, whatever it says.
func TestClaims(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct{ claims, says bool }{
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
		if claims, says := world.ClaimsReady(u), world.SaysReady(u); claims != want.claims || says != want.says {
			t.Errorf("%s: claims: %t, says: %t, want %t and %t", text, claims, says, want.claims, want.says)
		}
	}
}

func TestClaimsOfOwners(t *testing.T) {
	t.Parallel()
	pod := func(name, ready string) string {
		return `{apiVersion: v1, kind: Pod, metadata: {name: ` + name + `}, spec: {containers: [{name: c, image: i}]}, status: {conditions: [{type: Ready, status: "` + ready + `"}]}}`
	}
	w := newWorld(t, `{apiVersion: v1, kind: Namespace, metadata: {name: other}, status: {conditions: [{type: Ready, status: "True"}]}}`,
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
