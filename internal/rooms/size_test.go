package main

import (
	"fmt"
	"strings"
	"testing"
)

// What fits in the head: a package has at most so many files and lines without tests, and in every package, and in all of them together, at most
// such a part of the references between files points back.
const (
	mostFiles    = 20
	mostLines    = 2000
	fewRefs      = 10  // below which a package is not judged by its part
	backOfOne    = 20  // percent
	backOfAll    = 10  // percent
	leastChecked = 100 // packages, so that a pattern that matches nothing is noticed
)

// tooMuch returns what is too much in the packages, with the figures.
func tooMuch(rooms []room) (found []string) {
	refs, back := 0, 0
	for i := range rooms {
		r := &rooms[i]
		refs += r.refs
		back += len(r.back)
		if r.files > mostFiles {
			found = append(found, fmt.Sprintf("%s has %d files, want at most %d: give one idea of it a package of its own", r.path, r.files, mostFiles))
		}
		if r.lines > mostLines {
			found = append(found, fmt.Sprintf("%s has %d lines, want at most %d: give one idea of it a package of its own", r.path, r.lines, mostLines))
		}
		if r.refs >= fewRefs && len(r.back)*100 > r.refs*backOfOne {
			found = append(found, fmt.Sprintf("%s: %d of %d references between files point back, want at most %d %%: move a declaration to the file "+
				"that it belongs to\n    %s", r.path, len(r.back), r.refs, backOfOne, strings.Join(r.back, "\n    ")))
		}
	}
	if back*100 > refs*backOfAll {
		found = append(found, fmt.Sprintf("all packages: %d of %d references between files point back, want at most %d %%: "+
			"go run ./internal/rooms -v prints them", back, refs, backOfAll))
	}
	return found
}

// TestRooms holds what was reached.
func TestRooms(t *testing.T) {
	t.Parallel()
	var patterns []string
	for _, tree := range []string{"reconcile", "health", "routing", "conditions", "templates", "manifests", "naming", "layers", "defaulting"} {
		patterns = append(patterns, "github.com/reconcilekit/reconcilekit/"+tree+"/...")
	}
	rooms, err := measure(patterns)
	if err != nil {
		t.Fatal(err)
	}
	if len(rooms) < leastChecked {
		t.Errorf("only %d packages were counted, want at least %d", len(rooms), leastChecked)
	}
	for _, text := range tooMuch(rooms) {
		t.Error(text)
	}
}

// TestTooMuch: each bound names the package and its figures.
func TestTooMuch(t *testing.T) {
	t.Parallel()
	back := func(n int) []string { return make([]string, n) }
	for want, rooms := range map[string][]room{
		"":                         {{path: "p", files: mostFiles, lines: mostLines, refs: 10, back: back(1)}},
		"p has 21 files":           {{path: "p", files: mostFiles + 1}},
		"p has 2001 lines":         {{path: "p", lines: mostLines + 1}},
		"p: 3 of 10 references":    {{path: "p", refs: 10, back: back(3)}, {path: "q", refs: 90}},
		"all packages: 11 of 100 ": {{path: "p", refs: 9, back: back(9)}, {path: "q", refs: 91, back: back(2)}},
	} {
		found := tooMuch(rooms)
		if want == "" && len(found) > 0 || want != "" && (len(found) != 1 || !strings.Contains(found[0], want)) {
			t.Errorf("got %q, want one with %q", found, want)
		}
	}
}
