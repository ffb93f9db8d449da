package main

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// flow is the content of an operator's --describe page.
type flow struct {
	owners   []schema.GroupVersionKind // kinds it reconciles
	children []schema.GroupVersionKind // kinds it owns
}

// parseFlow reads the watches table of a --describe page.
func parseFlow(page string) (flow, error) {
	var f flow

	seen := map[string]bool{}

	for line := range strings.Lines(page) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}

		role, kind := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])
		if role != "For" && role != "Owns" || seen[role+kind] {
			continue
		}

		seen[role+kind] = true

		parts := strings.Split(kind, "/")
		if len(parts) != 3 {
			return flow{}, fmt.Errorf("kind %q of the watches table, want group/version/kind", kind)
		}

		parsed := schema.GroupVersionKind{Group: parts[0], Version: parts[1], Kind: parts[2]}
		if role == "For" {
			f.owners = append(f.owners, parsed)
		} else {
			f.children = append(f.children, parsed)
		}
	}

	if len(f.owners) == 0 {
		return flow{}, fmt.Errorf("the --describe page has no watches table with a For row:\n%.300s", page)
	}

	return f, nil
}
