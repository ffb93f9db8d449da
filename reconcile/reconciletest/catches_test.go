package reconciletest_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/check"
)

// faulty lists operators with one fault each, and the check that must find it.
func faulty() map[string]map[trait]check.Check {
	return map[string]map[trait]check.Check{
		"drift and watches": {
			"does not watch its children":             "drift",
			"settings not watched":                    "watch",
			"settings watched by generation":          "watch",
			"reference not watched":                   "watch",
			"removes foreign annotations":             "foreign",
			"takes over objects of other controllers": "foreign",
			"writes all finalizers":                   "foreign",
			"writes the children's finalizers":        "foreign",
			"annotations replaced":                    "foreign",
		},
		"foreign writes during a reconciliation": {
			"finalizer patched":                                "foreign",
			"entire owner written after a conflict":            "foreign",
			"Job recreated while the old one is being deleted": "state",
		},
		"stale caches": {
			"generated name":                        "orphan",
			"annotation without an owner reference": "orphan",
		},
		"random names": {
			"random name in each pass":            "rest",
			"random name stored after its object": "orphan",
			"random name for each change":         "orphan",
		},
		"slow and failing controllers": {
			"recreates children that are not ready": "rest",
			"ignores the Deployment's generation":   "ready",
			"ready once the Deployment exists":      "ready",
			"stays ready":                           "ready",
		},
		"temporary damage": {
			"read error handled as not found":          "damage",
			"live read error handled as an empty list": "damage",
			"new password for each change":             "damage",
		},
		"API rules": {
			"selector follows the spec":         "refused",
			"label from the spec":               "refused",
			"status value outside the enum":     "refused",
			"Valve with another immutable size": "refused",
			"Valve with a duplicate list key":   "refused",
		},
		"time and events": {
			"event in every pass":                       "quiet",
			"event with a number":                       "quiet",
			"current time in the status":                "quiet",
			"current time in a child":                   "quiet",
			"Job recreated after its TTL":               "time",
			"Job named by the date":                     "time",
			"Job recreated after the clock is set back": "time",
			"expiry without a planned pass":             "time",
		},
		"deletion": {
			"creates children during deletion":                   "orphan",
			"foreground deletion recreates a child":              "orphan",
			"creates an object in a terminating namespace":       "orphan",
			"finalizer waits for a child in foreground deletion": "orphan",
			"requeues while a child is being deleted":            "rest",
			"owner in another namespace":                         "quiet",
			"cluster-scoped child of a namespaced owner":         "orphan",
		},
		"panics and failed reconciliations": {
			"panics without its reference":       "panic",
			"panics without a child":             "panic",
			"fails although everything is ready": "rest",
			"requeues without end":               "rest",
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
			"safe mode after two starts": "state",
			"record kept in memory only": "orphan",
		},
		"kinds that are not installed": {
			"optional child tried only once":         "state",
			"optional child blocks other children":   "state",
			"optional child retried without backoff": "rest",
		},
		"scaling": {
			"scales down before a change": "damage",
		},
		"concurrent reconciliations": {
			"owner of the pass stored in the reconciler": "state",
			"skips while another pass runs":              "state",
		},
		"refusals": {
			"refusal retried without backoff": "rest",
			"gives up":                        "state",
			"stops after three failures":      "state",
		},
		"several owners": {
			"one child name for all owners":           "state",
			"prunes children of other owners":         "rest",
			"reference triggers only the first owner": "watch",
			"remembers created children in memory":    "state",
		},
	}
}

// correct lists operators that do something unusual but correct.
func correct() []trait {
	return []trait{
		"", "annotation changed", "poll every ten seconds", "resync every ten hours", "expiry", "schedule of every hour",
		"schedule of every minute", "seeds its settings", "replicas owned by an autoscaler", "external",
		"finalizer with a cleanup", "Job recorded in the status", "several workers", "fails until everything is ready", "password in another Secret", "time of the change in the status",
		"applies in every pass", "foreground deletion, without a finalizer", "generated name, listed live",
		"waits while a child is being deleted", "waits an hour after a refusal", "optional child", "invalid specs are not retried", "status value of the enum", "Valve with a constant size",
		"object claimed by the first owner", "shared object with entries of all owners", "finalizer patched with its version", "annotation without an owner reference, of an existing owner",
		"name remembered in an annotation", "name remembered in the status",
	}
}

// TestCatches checks that each fault is found by the check for it.
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
					t.Errorf("%d cases, none found by the check %q; findings: %v", out.Cases, check, out.Findings)
				} else {
					t.Logf("%d cases, %d findings, the first: %s", out.Cases, len(out.Findings), out.Findings[0])
				}
			})
		}
	}
}

// TestCatchesNormalisedValues checks that a regenerated password is found although the system normalises it.
func TestCatchesNormalisedValues(t *testing.T) {
	t.Parallel()
	system := appSystem("new password for each change")
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

// TestUnusual checks that correct operators have no findings.
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
				system.Outlives = []string{"ConfigMap default/web-1*"} // the faults determine which times are missed
			case "object claimed by the first owner":
				system.Outlives = []string{"ConfigMap default/first"}
			case "seeds its settings":
				system.Accepted = []reconciletest.Acceptance{
					{Check: check.State, About: "data.message", Reason: "the settings are created once and then belong to the user"},
				}
			case "replicas owned by an autoscaler":
				system.Accepted = []reconciletest.Acceptance{
					{Check: check.State, About: "spec.replicas", Reason: "an autoscaler sets the replicas"},
				}
			}
			reconciletest.Converge(t, system)
		})
	}
}
