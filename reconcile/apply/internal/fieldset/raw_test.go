package fieldset_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

func TestTakePlanned(t *testing.T) {
	for name, c := range map[string]struct{ fields, content, taken, left string }{
		"keys of a map": {
			`{"f:data":{".":{},"f:a":{},"f:b":{}}}`, `{"data":{"a":"1"}}`, `{"f:data":{".":{},"f:a":{}}}`, `{"f:data":{".":{},"f:b":{}}}`,
		},
		"all of it":   {`{"f:data":{".":{},"f:a":{}}}`, `{"data":{"a":"1"}}`, `{"f:data":{".":{},"f:a":{}}}`, `{}`},
		"none of it":  {`{"f:data":{"f:b":{}}}`, `{"data":{"a":"1"}}`, `{}`, `{"f:data":{"f:b":{}}}`},
		"one value":   {`{"f:list":{}}`, `{"list":["x"]}`, `{"f:list":{}}`, `{}`},
		"not planned": {`{"f:list":{}}`, `{"data":{}}`, `{}`, `{"f:list":{}}`},
		"items with keys": {
			`{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:port":{}},"k:{\"port\":81,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}}`,
			`{"ports":[{"port":80,"name":"http"}]}`,
			`{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:port":{}}}}`,
			`{"f:ports":{"k:{\"port\":81,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}}`,
		},
		"values of a set": {`{"f:set":{"v:\"x\"":{},"v:\"y\"":{}}}`, `{"set":["x"]}`, `{"f:set":{"v:\"x\"":{}}}`, `{"f:set":{"v:\"y\"":{}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			fields := decode(t, c.fields)
			taken := fieldset.TakePlanned(fields, numbers(decode(t, c.content)))
			if diff := cmp.Diff(decode(t, c.taken), taken); diff != "" {
				t.Errorf("taken (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(decode(t, c.left), fields); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTakeCommon(t *testing.T) {
	for name, c := range map[string]struct{ fields, other, taken, left string }{
		"keys of a map":   {`{"f:labels":{".":{},"f:a":{},"f:b":{}}}`, `{"f:labels":{".":{},"f:a":{}}}`, `{"f:labels":{"f:a":{}}}`, `{"f:labels":{".":{},"f:b":{}}}`},
		"all of it":       {`{"f:labels":{".":{},"f:a":{}}}`, `{"f:labels":{"f:a":{},"f:b":{}}}`, `{"f:labels":{"f:a":{}}}`, `{}`},
		"none of it":      {`{"f:labels":{"f:a":{}}}`, `{"f:labels":{"f:b":{}},"f:x":{}}`, `{}`, `{"f:labels":{"f:a":{}}}`},
		"values of a set": {`{"f:set":{"v:\"x\"":{},"v:\"y\"":{}}}`, `{"f:set":{"v:\"x\"":{}}}`, `{"f:set":{"v:\"x\"":{}}}`, `{"f:set":{"v:\"y\"":{}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			fields := decode(t, c.fields)
			taken := fieldset.TakeCommon(fields, decode(t, c.other))
			if diff := cmp.Diff(decode(t, c.taken), taken); diff != "" {
				t.Errorf("taken (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(decode(t, c.left), fields); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// numbers converts the numbers to integers, as in the content of an object.
func numbers(m map[string]any) map[string]any {
	ports, _ := m["ports"].([]any)
	for _, item := range ports {
		port := item.(map[string]any)
		port["port"] = int64(port["port"].(float64))
	}
	return m
}

func TestCut(t *testing.T) {
	for name, c := range map[string]struct {
		path, fields, left string
		found              bool
	}{
		"a field":            {"spec.replicas", `{"f:spec":{"f:replicas":{},"f:paused":{}}}`, `{"f:spec":{"f:paused":{}}}`, true},
		"the last one":       {"spec.replicas", `{"f:spec":{".":{},"f:replicas":{}},"f:data":{}}`, `{"f:data":{}}`, true},
		"all below":          {"metadata.labels", `{"f:metadata":{"f:labels":{".":{},"f:a":{}},"f:annotations":{"f:a":{}}}}`, `{"f:metadata":{"f:annotations":{"f:a":{}}}}`, true},
		"a field of an item": {"ports[port=80].name", `{"f:ports":{"k:{\"port\":80}":{".":{},"f:name":{},"f:port":{}}}}`, `{"f:ports":{"k:{\"port\":80}":{".":{},"f:port":{}}}}`, true},
		"an item":            {"ports[port=80]", `{"f:ports":{"k:{\"port\":80}":{".":{}},"k:{\"port\":81}":{".":{}}}}`, `{"f:ports":{"k:{\"port\":81}":{".":{}}}}`, true},
		"another field":      {"spec.paused", `{"f:spec":{"f:replicas":{}}}`, `{"f:spec":{"f:replicas":{}}}`, false},
		"a part of a value":  {"spec.selector.app", `{"f:spec":{"f:selector":{}}}`, `{"f:spec":{"f:selector":{}}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			path, err := fieldset.ParsePath(c.path)
			if err != nil {
				t.Fatal(err)
			}
			fields := decode(t, c.fields)
			if found := path.Cut(fields); found != c.found {
				t.Errorf("found %t, want %t", found, c.found)
			}
			if diff := cmp.Diff(decode(t, c.left), fields); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}
