package cluster_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
)

// TestNormalise checks that only the values that differ between runs are removed from an object.
func TestNormalise(t *testing.T) {
	t.Parallel()
	names := cluster.Identities{
		Texts: map[string]string{"u-1": "<uid of Widget default/web>", "": "nothing", "of-q4rx": "of-*", "of-q4rx-env": "of-*-env"}, Random: map[string]bool{"q4rx": true},
	}
	recent := time.Now().UTC().Format(time.RFC3339)
	for name, c := range map[string]struct{ from, want string }{
		"fields that the server sets": {
			`metadata: {name: a, uid: u-9, resourceVersion: "7", generation: 3, creationTimestamp: "2026-01-01T00:00:00Z", managedFields: [], selfLink: x}`,
			`metadata: {name: a}`,
		},
		"empty labels":    {`metadata: {name: a, labels: {}, annotations: {}}`, `metadata: {name: a}`},
		"labels":          {`metadata: {name: a, labels: {b: c}}`, `metadata: {name: a, labels: {b: c}}`},
		"a deletion":      {`metadata: {name: a, deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 0}`, `metadata: {name: a, deletionTimestamp: set}`},
		"a random name":   {`metadata: {name: of-x7z, generateName: of-}`, `metadata: {name: of-*, generateName: of-}`},
		"UIDs in strings": {`{metadata: {name: a}, spec: {of: "owner-u-1"}}`, `{metadata: {name: a}, spec: {of: "owner-<uid of Widget default/web>"}}`},
		"random names": {
			`{metadata: {name: of-q4rx, labels: {part: q4rx}}, spec: {of-q4rx: [of-q4rx-env, xq4rx, "see of-q4rx"]}}`,
			`{metadata: {name: of-*, labels: {part: "*"}}, spec: {of-*: [of-*-env, xq4rx, "see of-*"]}}`,
		},
		"times of a status": {`{metadata: {name: a}, status: {at: "2020-01-01T00:00:00Z", list: [{when: "2020-01-01T00:00:00Z"}], phase: Open}}`, `{metadata: {name: a}, status: {at: set, list: [{when: set}], phase: Open}}`},
		"times of a spec":   {`{metadata: {name: a}, spec: {startTime: "2020-01-01T00:00:00Z", at: "2020-01-01T00:00:00Z"}}`, `{metadata: {name: a}, spec: {startTime: set, at: "2020-01-01T00:00:00Z"}}`},
		"the current time":  {`{metadata: {name: a}, spec: {at: "` + recent + `"}}`, `{metadata: {name: a}, spec: {at: set}}`},
		"generations":       {`{metadata: {name: a, generation: 3}, status: {observedGeneration: 3, of: {observedGeneration: 2}}}`, `{metadata: {name: a}, status: {observedGeneration: current, of: {observedGeneration: 2}}}`},
		"conditions, by type": {
			`{metadata: {name: a}, status: {conditions: [{type: Z, status: "True"}, {type: A, status: "False"}]}}`,
			`{metadata: {name: a}, status: {conditions: [{type: A, status: "False"}, {type: Z, status: "True"}]}}`,
		},
		"conditions of a resolved failure": {
			`{metadata: {name: a}, status: {conditions: [{type: AuthValid, status: "True"}, {type: ConfigValid, status: "False"}]}}`,
			`{metadata: {name: a}, status: {conditions: [{type: ConfigValid, status: "False"}]}}`,
		},
		"a list of other values": {`{metadata: {name: a}, spec: {list: [{type: Z}, {type: A}, c, b]}}`, `{metadata: {name: a}, spec: {list: [{type: Z}, {type: A}, c, b]}}`},
		"a list with only types": {`{metadata: {name: a}, spec: {list: [{type: Z}, {type: A}]}}`, `{metadata: {name: a}, spec: {list: [{type: Z}, {type: A}]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := "apiVersion: example.com/v1\nkind: Widget\n"
			parseFlow := func(text string) *unstructured.Unstructured {
				if text[0] == '{' {
					return object(t, "{apiVersion: example.com/v1, kind: Widget, "+text[1:])
				}
				return object(t, header+text)
			}
			from := parseFlow(c.from)
			before := from.DeepCopy()
			if diff := cmp.Diff(any(parseFlow(c.want).Object), cluster.Normalise(from, names)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before.Object, from.Object); diff != "" {
				t.Errorf("the object itself has changed (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTwins checks that objects with generated names are matched by their content, whatever the order of their names.
func TestTwins(t *testing.T) {
	t.Parallel()
	states := make([]cluster.State, 2)
	for n, colors := range [][]string{{"red", "green"}, {"green", "red"}} {
		w := newCluster(t, "")
		for _, color := range colors {
			child := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: default, generateName: of-}, data: {color: `+color+`}}`)
			child.SetName("")
			if err := w.Client.Create(t.Context(), child); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		if states[n], err = w.State(); err != nil {
			t.Fatal(err)
		}
	}
	if diff := states[0].Diff(states[1]); diff != "" || states[0]["ConfigMap default/of-*"] == nil || states[0]["ConfigMap default/of-* (2)"] == nil {
		t.Errorf("%v (-one +other):\n%s", states[0], diff)
	}
}

func TestHideRandom(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		`{clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], ports: [{port: 80, nodePort: 30001}]}`: `{clusterIP: drawn, ports: [{port: 80, nodePort: drawn}]}`,
		`{clusterIP: None, clusterIPs: [None]}`:                                               `{clusterIP: None, clusterIPs: [None]}`,
		`{externalName: web}`:                                                                 `{externalName: web}`,
	} {
		head := "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: "
		got := object(t, head+from)
		cluster.HideDrawn(got.Object)
		if diff := cmp.Diff(object(t, head+want).Object, got.Object); diff != "" {
			t.Errorf("%s (-want +got):\n%s", from, diff)
		}
	}
}

// TestDiffers checks that only the expected fields of an object are compared with the stored ones.
func TestDiffers(t *testing.T) {
	t.Parallel()
	w := newCluster(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {a: b, c: d}}
spec: {replicas: 2, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}
status:
  observedGeneration: 1
  conditions:
  - {type: Progressing, status: "True"}
  - {type: Available, status: "False", reason: Few}
  - {type: Ready, status: "False", reason: Few, message: no node fits}
`)
	for text, want := range map[string]string{
		`{metadata: {name: web}, status: {observedGeneration: 1}}`:                                "",
		`{metadata: {name: web}, status: {observedGeneration: current}}`:                          "",
		`{metadata: {name: web}, status: {observedGeneration: 2}}`:                                `"observedGeneration": string("current")`,
		`{metadata: {name: web}, status: {conditions: [{type: Ready, status: "True"}]}}`:          "its condition Ready is False: Few: no node fits",
		`{metadata: {name: web, labels: {a: b}}, spec: {replicas: 2}}`:                            "",
		`{metadata: {name: web}, spec: {selector: {}}}`:                                           "",
		`{metadata: {name: web}, spec: {replicas: 3}}`:                                            "Deployment.apps default/web (-want +got):",
		`{metadata: {name: web}, spec: {paused: true}}`:                                           `"paused": bool(true)`,
		`{metadata: {name: web}, spec: {template: {spec: {containers: [{name: c}]}}}}`:            "",
		`{metadata: {name: web}, spec: {template: {spec: {containers: [{name: c}, {name: d}]}}}}`: `"name": string("d")`,
		`{metadata: {name: web}, status: {conditions: [{type: Available, status: "False"}]}}`:     "",
		`{metadata: {name: web}, status: {conditions: [{type: Available, status: "True"}]}}`:      `"status": string("False")`,
		`{metadata: {name: web}, status: {conditions: [{type: Failing, status: "True"}]}}`:        `string("Failing")`,
		`{metadata: {name: shop}}`:                  "want Deployment.apps default/shop, but it does not exist; existing objects of its kind: default/web",
		`{metadata: {name: web, namespace: other}}`: "want Deployment.apps other/web, but it does not exist",
	} {
		got := strings.ReplaceAll(w.Differs(object(t, "{apiVersion: apps/v1, kind: Deployment, "+text[1:])), "\u00a0", " ")
		if (got == "") != (want == "") || !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("%s:\n%s\nwant %s", text, got, want)
		}
	}
	if got := w.Differs(object(t, `{apiVersion: v1, kind: Secret, metadata: {name: a}}`)); !strings.HasSuffix(got, "existing objects of its kind: none") {
		t.Errorf("got %s", got)
	}
	name, found := w.Finds(object(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}`))
	if _, none := w.Finds(object(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: shop}}`)); !found || none || name != "Deployment.apps default/web" {
		t.Errorf("%s is found: %t, and another one: %t", name, found, none)
	}
}

// TestWithdraw checks that uninstalling a kind deletes its objects and its mapping until it is installed again.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	w := newCluster(t, `{apiVersion: v1, kind: Secret, metadata: {name: a, finalizers: [example.com/hold]}}`)
	perform(t, w, description.StepA, true)
	kind, mapper := schema.GroupKind{Kind: "Secret"}, w.ServedMapper()
	known := func() (n int) {
		if _, err := mapper.RESTMapping(kind, "v1"); err == nil {
			n++
		}
		if _, err := mapper.RESTMappings(kind); err == nil {
			n++
		}
		if _, err := mapper.KindFor(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}); err == nil {
			n++
		}
		return n
	}
	if known() != 3 {
		t.Errorf("%d of 3 mappings return the kind", known())
	}
	if err := w.Withdraw(t.Context(), kind); err != nil {
		t.Fatal(err)
	}
	if known() != 0 || w.Served(kind) == nil || w.Served(schema.GroupKind{Kind: "ConfigMap"}) != nil {
		t.Errorf("%d mappings return the kind; served: %v", known(), w.Served(kind))
	}
	if stored(t, w, "Secret", "a") != nil || stored(t, w, "ConfigMap", "shop") == nil {
		t.Error("an object of the kind still exists, or one of another kind does not")
	}
	w.Restore()
	if known() != 3 || w.Served(kind) != nil {
		t.Error("the kind was not restored")
	}
}
