package naming_test

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/naming"
)

// vector is a recorded result of an operator in production: the output of one of its functions for an input. A quirk is
// behaviour that this package changes; decision has its own behaviour and the reason, and the result must differ from
// the recorded one.
type vector struct {
	Name     string `json:"name"`
	Fn       string `json:"fn"`
	Quirk    string `json:"quirk"`
	Decision string `json:"decision"`
	Input    struct {
		Parts      []string `json:"parts"`
		HashInputs []any    `json:"hashInputs"`
		HashLength *int     `json:"hashLength"`
		MaxLength  *int     `json:"maxLength"`
		Value      string   `json:"value"`
		Image      string   `json:"image"`
	} `json:"input"`
	Expected map[string]any `json:"expected"`
}

func TestVectors(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/naming-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	matching, quirks := map[string]int{}, map[string]int{}
	for _, v := range vectors {
		got := v.run(t)
		if v.Quirk != "" {
			if v.Decision == "" {
				t.Errorf("%s: a quirk without a decision", v.Name)
			}
			if cmp.Equal(v.Expected, got) {
				t.Errorf("%s: behaves as before (%s), but the decision is: %s", v.Name, v.Quirk, v.Decision)
			}
			quirks[v.Fn]++
			t.Logf("quirk: %s: was %v, is %v: %s", v.Name, v.Expected, got, v.Decision)
			continue
		}
		if diff := cmp.Diff(maskHash(v.Expected, v.hashed()), maskHash(got, v.hashed())); diff != "" {
			t.Errorf("%s (-want +got)\n%s", v.Name, diff)
			continue
		}
		matching[v.Fn]++
	}
	t.Logf("matching: %v, quirks changed by decision: %v", matching, quirks)
}

// hashed returns true if the expected value ends in a hash, whose characters may differ.
func (v *vector) hashed() bool {
	return v.Fn == "derivedName" && len(v.Input.HashInputs) > 0 && (v.Input.HashLength == nil || *v.Input.HashLength > 0)
}

var hashAtEnd = regexp.MustCompile(`-[0-9a-f]+$`)

// maskHash replaces the characters of a hash and keeps their number.
func maskHash(result map[string]any, hashed bool) map[string]any {
	value, ok := result["value"].(string)
	if !hashed || !ok {
		return result
	}
	masked := hashAtEnd.ReplaceAllStringFunc(value, func(hash string) string {
		return "-" + string(make([]byte, len(hash)-1))
	})
	return map[string]any{"value": masked, "length": result["length"]}
}

// run returns the result in the format of v.Expected.
func (v *vector) run(t *testing.T) map[string]any {
	t.Helper()
	switch v.Fn {
	case "derivedName":
		got, err := naming.Derive(v.Input.Parts, v.options()...)
		return texts(got, err, v.Expected)
	case "rfc1123":
		return texts(naming.DNSLabel(v.Input.Value), nil, nil)
	case "labelValue":
		return texts(naming.LabelValue(v.Input.Value), nil, nil)
	case "imageParts":
		img, err := naming.ParseImage(v.Input.Image)
		if err != nil {
			return map[string]any{"error": err.Error()}
		}
		registry, name, version := img.Parts()
		return map[string]any{"registry": registry, "repository": img.Repository, "name": name, "tag": version}
	}
	t.Fatalf("%s: unknown function %q", v.Name, v.Fn)
	return nil
}

// options returns the options for the vector: a hash of 8 characters, or none without inputs.
func (v *vector) options() []naming.Option {
	length := 8
	if v.Input.HashLength != nil {
		length = *v.Input.HashLength
	}
	if len(v.Input.HashInputs) == 0 {
		length = 0
	}
	opts := []naming.Option{naming.HashLength(length), naming.HashInputs(v.Input.HashInputs...)}
	if v.Input.MaxLength != nil {
		opts = append(opts, naming.MaxLength(*v.Input.MaxLength))
	}
	return opts
}

// texts returns a name or an error in the format of the vectors. The error for empty parts counts as equal, because the
// parameter has another name here.
func texts(got string, err error, expected map[string]any) map[string]any {
	if err != nil {
		if expected["error"] == "nameParts cannot be empty" {
			return expected
		}
		return map[string]any{"error": err.Error()}
	}
	return map[string]any{"value": got, "length": float64(len(got))}
}
