package main

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
	"text/template"
)

// TestPlaced checks that each defect applies at exactly one place of the current example, and that the resulting file
// parses.
func TestPlaced(t *testing.T) {
	for name, p := range products() {
		for _, d := range p.defects {
			changed, err := d.plant(filepath.Join("../../examples", d.file))
			if err != nil {
				t.Errorf("%s: %s: %v", name, d.what, err)
				continue
			}
			if err := parses(d.file, changed); err != nil {
				t.Errorf("%s: %s: %v", name, d.what, err)
			}
		}
	}
}

// parses returns the syntax error of a Go file or of a template of package manifests.
func parses(file string, text []byte) error {
	var err error
	if filepath.Ext(file) == ".yaml" {
		echo := func(value any) any { return value }
		_, err = template.New(file).Funcs(template.FuncMap{"json": echo, "quote": echo}).Parse(string(text))
	} else {
		_, err = parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	}
	return err
}

// TestUnplaced checks that a defect without exactly one matching place is an error.
func TestUnplaced(t *testing.T) {
	for _, before := range []string{"no such text", "package"} {
		if _, err := (defect{file: "main.go", before: before}).plant("main.go"); err == nil {
			t.Errorf("%q is planted", before)
		}
	}
}

func TestEnough(t *testing.T) {
	for _, c := range []struct {
		caught, planted int
		enough          bool
	}{{18, 20, true}, {17, 20, false}, {8, 8, true}, {7, 8, false}, {0, 0, false}} {
		if enough(c.caught, c.planted) != c.enough {
			t.Errorf("%d of %d: %t", c.caught, c.planted, !c.enough)
		}
	}
}
