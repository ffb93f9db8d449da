package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestQuirks checks that the README decides each of the 18 defects and 15 surprises of the product's specification, and
// that the cases it names exist.
func TestQuirks(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, file := range []string{"testdata/scenarios.json", "testdata/models.json", "settings/testdata/cases.json", "webhook/testdata/cases.json"} {
		for _, one := range read[struct{ Name string }](t, file) {
			known[one.Name] = true
		}
	}
	decided, named := map[string]bool{}, regexp.MustCompile(`[a-z0-9]+(-[a-z0-9]+){2,}`)
	for line := range strings.SplitSeq(string(content), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 7 || !regexp.MustCompile(`^ [DQ]\d`).MatchString(cells[1]) {
			continue
		}
		for id := range strings.SplitSeq(strings.TrimSpace(cells[1]), ", ") {
			decided[id] = true
		}
		for _, name := range named.FindAllString(cells[5], -1) {
			if !known[name] {
				t.Errorf("%s: unknown case %s", cells[1], name)
			}
		}
	}
	for letter, count := range map[string]int{"D": 18, "Q": 15} {
		for i := range count {
			if id := fmt.Sprintf("%s%d", letter, i+1); !decided[id] {
				t.Errorf("%s is not decided", id)
			}
		}
	}
}
