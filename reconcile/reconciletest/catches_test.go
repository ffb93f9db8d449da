package reconciletest_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/check"
)

// faulty are operators with one fault each, and the check that has to name it.
func faulty() map[string]map[trait]check.Check {
	return map[string]map[trait]check.Check{
		"drift and watches": {
			"never looks at what it has made":  "drift",
			"settings not watched":             "watch",
			"settings watched by generation":   "watch",
			"reference not watched":            "watch",
			"takes annotations of others away": "foreign",
			"takes over what others control":   "foreign",
			"writes all finalizers":            "foreign",
			"writes the children's finalizers": "foreign",
			"annotations written anew":         "foreign",
		},
		"hands of others in the middle of a pass": {
			"finalizer patched":                     "foreign",
			"owner written whole after a conflict":  "foreign",
			"Job made again while the old one goes": "state",
		},
		"stale caches": {
			"generated name":           "orphan",
			"mark without a reference": "orphan",
		},
		"names that are drawn": {
			"name drawn in every pass":         "rest",
			"name remembered after its object": "orphan",
			"name drawn with every change":     "orphan",
		},
		"slow and failing others": {
			"replaces what is not ready":                 "rest",
			"generation of the Deployment not looked at": "ready",
			"ready when the Deployment is there":         "ready",
			"ready for ever":                             "ready",
		},
		"damage on the way": {
			"read error taken for absent":      "damage",
			"live read error taken for empty":  "damage",
			"password drawn with every change": "damage",
		},
		"rules of the API": {
			"selector follows the spec": "refused",
			"label from the spec":       "refused",
			"state beyond the enum":     "refused",
			"Valve of another size":     "refused",
			"Valve of two ends":         "refused",
		},
		"time and events": {
			"event in every pass":              "quiet",
			"event with a number":              "quiet",
			"time of the pass in the status":   "quiet",
			"time of the pass in a child":      "quiet",
			"Job is run again":                 "time",
			"Job of the day":                   "time",
			"Job from the future is run again": "time",
			"expiry without a planned pass":    "time",
		},
		"deletion": {
			"makes children while it goes":   "orphan",
			"child in the foreground":        "orphan",
			"farewell in its namespace":      "orphan",
			"finalizer waits for a child":    "orphan",
			"spins while a child goes":       "rest",
			"child of an owner elsewhere":    "quiet",
			"cluster-wide child of an owner": "orphan",
		},
		"panics and passes that fail": {
			"panics without its reference": "panic",
			"panics without a child":       "panic",
			"fails although all is well":   "rest",
			"asks for another pass":        "rest",
		},
		"leaks": {
			"password in the log":       "leak",
			"password in an event":      "leak",
			"password in the status":    "leak",
			"password in an annotation": "leak",
			"error with a password":     "leak",
		},
		"generations": {
			"observedGeneration of the first spec":             "status",
			"observedGeneration of the condition is never new": "status",
		},
		"two instances and two faults": {
			"safe mode after two starts":     "state",
			"record remembered by its maker": "orphan",
		},
		"kinds that are not served": {
			"optional child asked for once": "state",
			"optional child stops the rest": "state",
			"optional child tried at once":  "rest",
		},
		"scaling": {
			"scales down before a change": "damage",
		},
		"passes side by side": {
			"owner of the pass in a field":  "state",
			"skips while another pass runs": "state",
		},
		"refusals": {
			"refusal retried at once":    "rest",
			"gives up":                   "state",
			"rests after three failures": "state",
		},
		"several owners": {
			"one name for all owners":        "state",
			"prunes what is not its own":     "rest",
			"reference wakes the first only": "watch",
			"remembers what is made":         "state",
		},
	}
}

// correct are operators that do something unusual, and nothing wrong.
func correct() []trait {
	return []trait{
		"", "annotation changed", "poll every ten seconds", "resync every ten hours", "expiry", "schedule of every hour",
		"schedule of every minute", "seeds its settings", "replicas are left to others", "external",
		"finalizer with a cleanup", "Job is remembered", "several workers", "fails until all is well", "password in another Secret", "time of the change in the status",
		"applies in every pass", "child in the foreground, without a finalizer", "generated name, looked for live",
		"waits while a child goes", "waits an hour after a refusal", "optional child", "invalid is the last word", "state of the enum", "Valve of one size",
		"first of all", "entries of all owners", "finalizer patched with its version", "mark without a reference, of an owner that is there",
		"name remembered in an annotation", "name remembered in the status",
	}
}

// TestCatches: each fault is named by the check that is there for it.
func TestCatches(t *testing.T) {
	t.Parallel()
	for class, operators := range faulty() {
		for fault, check := range operators {
			t.Run(class+"/"+string(fault), func(t *testing.T) {
				t.Parallel()
				out, err := reconciletest.ExploreUntil(t.Context(), appSystem(fault), check)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.ContainsFunc(out.Findings, func(f reconciletest.Finding) bool { return f.Check == check }) {
					t.Errorf("%d cases, and none caught by the check %q; findings: %v", out.Cases, check, out.Findings)
				} else {
					t.Logf("%d cases, %d findings, the first: %s", out.Cases, len(out.Findings), out.Findings[0])
				}
			})
		}
	}
}

// TestCatchesWhatIsNormalised: a password that is drawn again is seen although the system hides it.
func TestCatchesWhatIsNormalised(t *testing.T) {
	t.Parallel()
	system := appSystem("password drawn with every change")
	system.Normalise = func(o *unstructured.Unstructured) {
		if o.GetKind() == "Secret" {
			_ = unstructured.SetNestedField(o.Object, "drawn", "data", "password")
		}
	}
	out, err := reconciletest.ExploreUntil(t.Context(), system, check.Damage)
	if err != nil || !slices.ContainsFunc(out.Findings, func(f reconciletest.Finding) bool { return f.Check == check.Damage }) {
		t.Errorf("%d cases, error %v, findings %v", out.Cases, err, out.Findings)
	}
}

// TestUnusual: nothing is found where nothing is wrong.
func TestUnusual(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	t.Parallel()
	for _, one := range correct() {
		t.Run(string(one), func(t *testing.T) {
			t.Parallel()
			system := appSystem(one)
			system.Cases = 30
			switch one {
			case "schedule of every hour", "schedule of every minute":
				system.Cases = 20
				system.Outlives = []string{"ConfigMap default/web-1*"} // which times are missed is up to the faults
			case "first of all":
				system.Outlives = []string{"ConfigMap default/first"}
			case "seeds its settings":
				system.Accepted = []reconciletest.Acceptance{
					{Check: check.State, About: "data.message", Reason: "the settings are made once, and then are the user's"},
				}
			case "replicas are left to others":
				system.Accepted = []reconciletest.Acceptance{
					{Check: check.State, About: "spec.replicas", Reason: "an autoscaler has the replicas"},
				}
			}
			reconciletest.Converge(t, system)
		})
	}
}
