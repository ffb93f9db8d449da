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

// vector is a fact about the product: what one of its functions makes of an input. A
// quirk is a defect or a surprise, to be decided on.
type vector struct {
	Section  string          `json:"section"`
	Name     string          `json:"name"`
	Fn       string          `json:"fn"`
	Input    json.RawMessage `json:"input"`
	Expected any             `json:"expected"`
	Quirk    string          `json:"quirk"`
}

// decision is what this operator does where the product has a quirk.
type decision struct {
	// Text says it to a person.
	Text string `json:"decision"`
	// Kept reports that it does the same.
	Kept bool `json:"kept,omitempty"`
	// Expected is what it does instead.
	Expected any `json:"expected,omitempty"`
}

// TestVectors runs the facts. Those without a quirk must hold, the characters of
// hashes, the words of errors and the ranks of losers aside; for each quirk there is
// a decision, and what was decided must hold.
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
				t.Errorf("%s: a quirk without a decision: %s; ours: %s", v.Name, v.Quirk, raw)
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
		t.Errorf("a decision without its vector: %s", name)
	}
	for _, section := range slices.Sorted(maps.Keys(equal)) {
		t.Logf("%-14s %3d hold, %2d quirks decided", section, equal[section], decided[section])
	}
}

// load reads a JSON file.
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

// plain returns a value as JSON has it.
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

// onlyListed takes the evaluations out of a selection that the facts leave out: the
// product lists a stage's rejected candidates only when all are rejected.
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

// byName puts evaluations in one order.
func byName(a, b any) int {
	one, _ := a.(object)
	two, _ := b.(object)
	return strings.Compare(fmt.Sprint(one["name"]), fmt.Sprint(two["name"]))
}

// cutBase finds the part of a derived template's name that a longer hash cuts.
var cutBase = regexp.MustCompile(`^(.{0,19}).*(-ovr-)`)

var hash = regexp.MustCompile(`-[0-9a-f]{4,8}(-predictor)?$`)

// essential leaves out of a result what need not be the same: the characters of a
// hash, the words of an error, the owner reference that the engine sets, and what a
// selection says about losers beyond their being rejected.
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
