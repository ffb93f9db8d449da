package naming_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/reconcilekit/reconcilekit/naming"
)

const (
	goldenFile = "testdata/names.jsonl"
	// goldenLines grows with the file and never shrinks.
	goldenLines = 25
)

// stored is a line of the golden file: a name that exists in clusters, and its inputs.
type stored struct {
	Parts   []string `json:"parts"`
	Inputs  []any    `json:"inputs,omitempty"`
	Form    string   `json:"form,omitempty"`
	Max     int      `json:"max,omitempty"`
	Reserve int      `json:"reserve,omitempty"`
	Hash    *int     `json:"hash,omitempty"`
	Letter  bool     `json:"letter,omitempty"`
	Name    string   `json:"name"`
}

// TestNamesAreStable checks that names never change. Add a new line to the file without its name; UPDATE_GOLDEN=1 fills
// empty names only, and the run still fails, so that the author reviews them.
func TestNamesAreStable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	if len(lines) < goldenLines {
		t.Errorf("%s has %d lines, want at least %d: names must not be removed", goldenFile, len(lines), goldenLines)
	}
	var filled bytes.Buffer
	missing := 0
	for i, line := range lines {
		var s stored
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		got, err := naming.Derive(s.Parts, s.options()...)
		switch {
		case err != nil:
			t.Errorf("line %d: %v", i+1, err)
		case s.Name == "":
			missing++
			s.Name = got
		case s.Name != got:
			t.Errorf("line %d: %q was %q and is %q: existing objects of that name would be orphaned", i+1, s.Parts, s.Name, got)
		}
		encoder := json.NewEncoder(&filled)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(s); err != nil {
			t.Fatal(err)
		}
	}
	if missing > 0 {
		t.Errorf("%d lines without a name; UPDATE_GOLDEN=1 fills them", missing)
		if os.Getenv("UPDATE_GOLDEN") == "1" {
			if err := os.WriteFile(goldenFile, filled.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (s *stored) options() []naming.Option {
	opts := []naming.Option{naming.HashInputs(s.Inputs...), naming.ReserveLength(s.Reserve)}
	switch s.Form {
	case "subdomain":
		opts = append(opts, naming.SubdomainForm)
	case "labelValue":
		opts = append(opts, naming.LabelValueForm)
	}
	if s.Max > 0 {
		opts = append(opts, naming.MaxLength(s.Max))
	}
	if s.Hash != nil {
		opts = append(opts, naming.HashLength(*s.Hash))
	}
	if s.Letter {
		opts = append(opts, naming.StartWithLetter)
	}
	return opts
}
