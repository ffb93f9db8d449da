package aimservice_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// vector is a recorded result of the product: the output of one of its functions for an input. Quirk describes a defect
// or a surprise of the product, for which this operator needs a decision.
type vector struct {
	Section  string          `json:"section"`
	Name     string          `json:"name"`
	Fn       string          `json:"fn"`
	Input    json.RawMessage `json:"input"`
	Expected any             `json:"expected"`
	Quirk    string          `json:"quirk"`
}

// decision says what this operator does about a quirk of the product.
type decision struct {
	// Text explains the decision.
	Text string `json:"decision"`
	// Kept says that this operator behaves as the product does.
	Kept bool `json:"kept,omitempty"`
	// Expected is the result of this operator if it differs.
	Expected any `json:"expected,omitempty"`
}

// TestVectors compares results with the vectors. Vectors without a quirk must match, except for the characters of
// hashes, the text of errors and the ranks of rejected candidates. Each quirk needs a decision, and the result must
// match the decision.
func TestVectors(t *testing.T) {
	t.Parallel()
	vectors, decisions := load[[]vector](t, "testdata/vectors.json"), load[map[string]decision](t, "testdata/decisions.json")
	equal, decided := map[string]int{}, map[string]int{}
	for _, v := range vectors {
		run, known := functions[v.Fn]
		if !known {
			t.Errorf("%s: no function %s", v.Name, v.Fn)
			continue
		}
		got := plain(t, run(t, v.Input))
		want, counter := v.Expected, equal
		if v.Quirk != "" {
			d, found := decisions[v.Name]
			if !found {
				raw, _ := json.Marshal(got) //nolint:errchkjson // it came from JSON
				t.Errorf("%s: a quirk without a decision: %s; result of this operator: %s", v.Name, v.Quirk, raw)
				continue
			}
			counter = decided
			if !d.Kept {
				want = d.Expected
			}
			delete(decisions, v.Name)
		}
		if v.Quirk == "" {
			onlyListed(want, got)
		}
		if diff := cmp.Diff(essential(v.Fn, want), essential(v.Fn, got)); diff != "" {
			t.Errorf("%s %q (-want +got):\n%s", v.Fn, v.Name, diff)
			continue
		}
		counter[v.Section]++
	}
	for name := range decisions {
		t.Errorf("a decision without a vector: %s", name)
	}
	for _, section := range slices.Sorted(maps.Keys(equal)) {
		t.Logf("%-14s %3d hold, %2d quirks decided", section, equal[section], decided[section])
	}
}

// load decodes a JSON file.
func load[T any](t *testing.T, file string) (out T) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return out
}

// plain returns a value as decoded from JSON.
func plain(t *testing.T, value any) (out any) {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// onlyListed removes evaluations that the vectors omit: the product lists the rejected candidates of a stage only if it
// rejects all.
func onlyListed(want, got any) {
	w, _ := want.(object)
	g, _ := got.(object)
	listed, _ := w["evaluations"].([]any)
	all, _ := g["evaluations"].([]any)
	if all == nil {
		return
	}
	names := map[any]bool{}
	for _, e := range listed {
		names[e.(object)["name"]] = true
	}
	g["evaluations"] = slices.DeleteFunc(all, func(e any) bool { return !names[e.(object)["name"]] })
}

// byName compares evaluations by name.
func byName(a, b any) int {
	one, _ := a.(object)
	two, _ := b.(object)
	return strings.Compare(fmt.Sprint(one["name"]), fmt.Sprint(two["name"]))
}

// cutBase finds the part of a derived template's name that a longer hash truncates.
var cutBase = regexp.MustCompile(`^(.{0,19}).*(-ovr-)`)

var hash = regexp.MustCompile(`-[0-9a-f]{4,8}(-predictor)?$`)

// essential removes from a result what may differ: the characters of a hash, the text of an error, the owner reference,
// which the engine sets, and all details of rejected candidates except the rejection.
func essential(fn string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, field := range v {
			switch {
			case key == "error" || key == "decodeError":
				field = "an error"
			case key == "length" && fn == "derivedTemplateName", key == "gatewayValid", key == "ownerReferences":
				continue
			case key == "rank" && v["status"] != "chosen":
				continue
			}
			if list, ok := field.([]any); ok && key == "evaluations" {
				slices.SortFunc(list, byName)
			}
			out[key] = essential(fn, field)
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range v {
			out = append(out, essential(fn, item))
		}
		return out
	case string:
		if fn == "derivedTemplateName" {
			v = cutBase.ReplaceAllString(v, "$1$2")
		}
		return hash.ReplaceAllString(v, "-#$1")
	default:
		return v
	}
}
