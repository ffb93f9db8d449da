package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// defect is a change in one place of a file.
type defect struct {
	// what describes the defect.
	what string
	// file is relative to the folder examples.
	file string
	// before occurs in the file exactly once and is replaced by after.
	before, after string
}

// product is an example with its defects.
type product struct {
	// runs are the tests, the fastest first; later ones run only if the earlier ones pass.
	runs    []run
	defects []defect
}

// run is a part of the tests of an example.
type run struct {
	// tests is a pattern for the names of the tests; empty is all.
	tests string
	// packages are relative to the folder examples.
	packages []string
	// flags are flags of the test binary.
	flags []string
}

func products() map[string]product {
	return map[string]product{"aim": aim(), "maas": maas(), "modelmesh": modelmesh(), "modelregistry": modelregistry(), "trustyai": trustyai()}
}

func main() {
	root := flag.String("root", "../..", "folder of the repository")
	name := flag.String("product", "modelregistry", "example in which to plant defects")
	only := flag.String("only", "", "plant only those whose description contains this")
	from := flag.Int("from", 1, "number of the first defect to plant, counted from 1, to continue a run")
	quick := flag.Bool("quick", false, "run only the tests of single packages of the product")
	flag.Parse()
	if err := prove(context.Background(), *root, *name, *only, *from, *quick); err != nil {
		fmt.Fprintln(os.Stderr, "defects:", err)
		os.Exit(1)
	}
}

// prove plants the defects of a product, starting at a number, and fails if too many of them pass the tests.
func prove(ctx context.Context, root, name, only string, from int, quick bool) error {
	examples, err := filepath.Abs(filepath.Join(root, "examples"))
	if err != nil {
		return err
	}
	p, exists := products()[name]
	if !exists {
		return fmt.Errorf("no product %q", name)
	}
	if from < 1 || from > len(p.defects) {
		return fmt.Errorf("%s has the defects 1 to %d, not %d", name, len(p.defects), from)
	}
	if quick {
		p.runs = p.runs[:1]
	}
	if err := p.try(ctx, examples, nil); err != nil {
		return fmt.Errorf("%s without a defect: %w", name, err)
	}
	planted, caught := 0, 0
	for _, d := range p.defects[from-1:] {
		if !strings.Contains(d.what, only) {
			continue
		}
		planted++
		began := time.Now()
		err := p.try(ctx, examples, &d)
		var failed *failedError
		switch {
		case errors.As(err, &failed):
			caught++
			fmt.Printf("caught  %-70s %s, %s\n", d.what, failed.test, time.Since(began).Round(time.Second))
		case err != nil:
			return fmt.Errorf("%s: %w", d.what, err)
		default:
			fmt.Printf("MISSED  %s\n", d.what)
		}
	}
	fmt.Printf("%s: %d of %d defects are caught\n", name, caught, planted)
	if !enough(caught, planted) {
		return errors.New("too few defects are caught: want at least nine in ten")
	}
	return nil
}

// enough reports whether at least nine in ten defects are detected, and any was planted.
func enough(caught, planted int) bool { return planted > 0 && caught*10 >= planted*9 }

// failedError reports a failed test.
type failedError struct{ test, output string }

func (e *failedError) Error() string { return e.test + " fails:\n" + e.output }

// failure matches the line of a failed test, not of a subtest.
var failure = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

// try runs the tests of the product, with the defect if there is one. The error is a *failedError if a test fails, and another one for a
// defect that does not compile and other failures of the run.
func (p product) try(ctx context.Context, examples string, d *defect) error {
	environment := os.Environ()
	if d != nil {
		scratch, err := os.MkdirTemp("", "defect")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(scratch) }()
		overlay, err := d.overlay(examples, scratch)
		if err != nil {
			return err
		}
		// The variable also applies to builds of the tests themselves.
		environment = append(environment, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay))
	}
	for _, r := range p.runs {
		arguments := append([]string{"test", "-count=1", "-failfast", "-timeout=10m", "-run", r.tests}, slices.Concat(r.packages, r.flags)...)
		tests := exec.CommandContext(ctx, "go", arguments...)
		tests.Dir, tests.Env = examples, environment
		output, err := tests.CombinedOutput()
		if err == nil {
			continue
		}
		if match := failure.FindSubmatch(output); match != nil {
			return &failedError{test: string(match[1]), output: string(output)}
		}
		return fmt.Errorf("run: %w\n%s", err, output)
	}
	return nil
}

// overlay writes the changed file and the overlay file of the go command, and returns the path of the latter.
func (d defect) overlay(examples, scratch string) (string, error) {
	file := filepath.Join(examples, filepath.FromSlash(d.file))
	changed, err := d.plant(file)
	if err != nil {
		return "", err
	}
	replacement := filepath.Join(scratch, "changed.go")
	if err := os.WriteFile(replacement, changed, 0o600); err != nil {
		return "", err
	}
	content, err := json.Marshal(map[string]map[string]string{"Replace": {file: replacement}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(scratch, "overlay.json")
	return path, os.WriteFile(path, content, 0o600)
}

// plant returns the file with the defect.
func (d defect) plant(file string) ([]byte, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if n := strings.Count(string(content), d.before); n != 1 {
		return nil, fmt.Errorf("%s contains %[3]q %[2]d times, want once", d.file, n, d.before)
	}
	return []byte(strings.Replace(string(content), d.before, d.after, 1)), nil
}
