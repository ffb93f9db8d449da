package lint

import (
	"bufio"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
)

// Watched checks that the watches table of a page contains the rows of a file, such as the watches of the operator that this one
// replaces. The file has one row per line, type and kind as on the page: "Owns apps/v1/Deployment". Empty lines and lines that start with
// # are skipped. A kind in a For row must be reconciled. A kind in an Owns or Watches row must be watched in any way, because a tracked
// read also enqueues the owners.
//
// exceptions maps missing rows to the reason, which must not be empty. An exception that the page contains, or that the file does not
// contain, fails the test.
func Watched(t testing.TB, page dataflow.Page, file string, exceptions map[string]string) {
	t.Helper()

	types := map[string][]string{}
	for _, d := range page.Controllers {
		for _, watch := range d.Watches {
			types[watch.GVK] = append(types[watch.GVK], watch.Type)
		}
	}

	rows := watchedRows(t, file)
	if len(rows) == 0 {
		t.Errorf("%s has no rows", file)
	}

	for _, row := range rows {
		kind, gvk, _ := strings.Cut(row, " ")
		covered := len(types[gvk]) > 0 && (kind != "For" || slices.Contains(types[gvk], "For"))

		switch reason, excepted := exceptions[row]; {
		case !excepted && !covered:
			t.Errorf("the page of %s does not cover %q of %s: the kind has the rows %v", page.Name, row, file, types[gvk])
		case excepted && covered:
			t.Errorf("the page of %s covers %q: remove the exception", page.Name, row)
		case excepted && reason == "":
			t.Errorf("the exception %q needs a reason", row)
		}
	}

	for _, row := range slices.Sorted(maps.Keys(exceptions)) {
		if !slices.Contains(rows, row) {
			t.Errorf("%s has no row %q to exclude", file, row)
		}
	}
}

func watchedRows(t testing.TB, path string) []string {
	t.Helper()

	file, err := os.Open(path)
	if err != nil {
		t.Fatalf("read the rows of the watches table: %v", err)
	}
	defer func() { _ = file.Close() }()

	var rows []string

	lines := bufio.NewScanner(file)
	for lines.Scan() {
		row := strings.Join(strings.Fields(lines.Text()), " ")
		if row != "" && !strings.HasPrefix(row, "#") {
			rows = append(rows, row)
		}
	}

	if err := lines.Err(); err != nil {
		t.Fatalf("read the rows of the watches table: %v", err)
	}

	return rows
}
