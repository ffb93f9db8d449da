package deptest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// products matches the names of the products in the examples and of the projects that they use. The library must not
// contain them: product-specific values are inputs.
var products = regexp.MustCompile(`(?i)\b(aim|aimservices?|eai\.amd|maas|opendatahub|modelmesh|model[-_ ]?registry|trustyai|` +
	`kserve|inferenceservices?|servingruntimes?|kuadrant|istio|kueue|openshift|rhoai|integreatly)\b`)

func TestNoProductInTheLibrary(t *testing.T) {
	t.Parallel()

	base := root(t)
	outside := []string{"examples", "hack", "benchmarks", "docs", ".git"}

	err := filepath.WalkDir(base, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		name, err := filepath.Rel(base, path)
		if err != nil {
			return err
		}

		if entry.IsDir() {
			if slices.Contains(outside, name) || name == filepath.Join("internal", "deptest") {
				return filepath.SkipDir
			}

			return nil
		}

		if !strings.HasSuffix(name, ".go") {
			return nil
		}

		checkProducts(t, path, name)

		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkProducts(t *testing.T, path, name string) {
	t.Helper()

	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	number := 0
	for line := range strings.Lines(string(data)) {
		number++

		if word := products.FindString(line); word != "" {
			t.Errorf("%s:%d: %q: move it to examples/", name, number, word)
		}
	}
}
