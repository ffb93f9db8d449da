package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/explain"
)

func TestTree(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	found := func(change func(*explain.Owner)) explain.Owner {
		o := explain.Owner{Controller: "shop", Kind: "example.com/v1/Shop", Name: "market/corner", Found: true, Last: &explain.Pass{At: at}}
		change(&o)
		return o
	}
	for name, c := range map[string]struct {
		owner explain.Owner
		state string
		has   []string
		not   []string
	}{
		"not found": {
			owner: explain.Owner{Kind: "v1/Shop", Name: "corner"}, state: "NotFound", has: []string{"Shop corner (controller ): not found"},
			not: []string{"next pass"},
		},
		"not observed": {
			owner: found(func(o *explain.Owner) { o.Last = nil }), state: "NotSeen", has: []string{"no pass since the process started"},
		},
		"paused and being deleted": {
			owner: found(func(o *explain.Owner) { o.Paused, o.Deleting = true, true }), state: "Paused", not: []string{"next pass"},
		},
		"on a standby, paused": {
			owner: found(func(o *explain.Owner) {
				o.Last, o.Paused, o.Process, o.Waits = nil, true, explain.ProcessStandby, "ask the leader"
			}),
			state: "Standby", has: []string{"not reconciled by this process\n├─ ask the leader\n└─ it is paused by its annotation\n"},
			not: []string{"since the process started"},
		},
		"before the caches are synced": {
			owner: explain.Owner{Kind: "v1/Shop", Name: "corner", Process: explain.ProcessNotSynced, Waits: "the caches are not synced"},
			state: "NotSynced", has: []string{"not known yet\n└─ the caches are not synced\n"}, not: []string{"not found"},
		},
		"without a kind": {
			owner: found(func(o *explain.Owner) { o.NotInstalled = []string{"a/v1/B", "a/v1/C"} }), state: "NotReady",
			has: []string{"optional kinds that are not installed: a/v1/B, a/v1/C"},
		},
		"going": {owner: found(func(o *explain.Owner) { o.Deleting, o.Ready = true, true }), state: "Deleting"},
		"ready": {
			owner: found(func(o *explain.Owner) { o.Ready = true }), state: "Ready", has: []string{"next pass: when an event triggers it"},
		},
		"diagnostics below the cause": {
			owner: found(func(o *explain.Owner) {
				o.Causes = []explain.Cause{{
					Subject: "Template", Message: "none fits", Diagnostics: []string{"CANDIDATE  OUTCOME", "100%d small  rejected"},
				}}
			}),
			state: "NotReady",
			has:   []string{"├─ because: Template: none fits\n│  ├─ CANDIDATE OUTCOME\n│  └─ 100%d small rejected\n"},
		},
		"line breaks": {
			owner: found(func(o *explain.Owner) { o.Last.Blocked = "one\ntwo\x1b" }), state: "NotReady", has: []string{"one two"},
		},
		"more entries than shown": {
			owner: found(func(o *explain.Owner) {
				o.Last.MoreDecisions, o.MoreReads = 7, 3
				o.Reads = []explain.Read{{Kind: "/v1/Secret", What: "market/password"}}
				o.Next = &explain.Next{Why: "deferred"}
			}),
			state: "NotReady", has: []string{"and 7 more", "and 3 more", "next pass: deferred\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.owner.State(); got != c.state {
				t.Errorf("state %s, want %s", got, c.state)
			}
			text := c.owner.String()
			for _, want := range c.has {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing in\n%s", want, text)
				}
			}
			for _, unwanted := range c.not {
				if strings.Contains(text, unwanted) {
					t.Errorf("%q is in\n%s", unwanted, text)
				}
			}
		})
	}
}
