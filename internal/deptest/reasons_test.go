package deptest_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
)

// reason is a constant used as a reason in conditions, events, log lines or explanations.
type reason struct{ value, meaning, from string }

// TestReasonsPage checks that docs/reasons.md lists the constants of the code; UPDATE_GOLDEN=1 writes the page.
func TestReasonsPage(t *testing.T) {
	t.Parallel()

	base := root(t)

	var page strings.Builder

	page.WriteString("# Reasons\n\nThis page is generated from the code (`UPDATE_GOLDEN=1 go test ./internal/deptest -run TestReasonsPage`).\n\n" +
		"The table lists every reason that the SDK sets in conditions, events, log lines and explanations. Other reasons come from the author, from the\n" +
		"Kubernetes API or from the condition of a child.\n\n| reason | meaning | package |\n|---|---|---|\n")

	for _, r := range reasons(t, base) {
		if r.meaning == "" {
			t.Errorf("%s: the reason %s has no comment that explains it", r.from, r.value)
		}

		fmt.Fprintf(&page, "| `%s` | %s | `%s` |\n", r.value, r.meaning, r.from)
	}

	golden := filepath.Join(base, "docs", "reasons.md")

	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, []byte(page.String()), 0o600); err != nil {
			t.Fatal(err)
		}

		t.Error("the page was written; run the test again without UPDATE_GOLDEN")
	}

	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(string(want), page.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", golden, diff)
	}
}

// TestOperationsPage checks that docs/operations.md lists every condition, every name that is written into metadata,
// every reason that only events have, and every category.
func TestOperationsPage(t *testing.T) {
	t.Parallel()

	base := root(t)

	text, err := os.ReadFile(filepath.Join(base, "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}

	productNames := []string{
		conditions.Ready, health.DependenciesReachable, health.AuthValid, health.ConfigValid, "PruneBlocked",
		"Stalled", "Reconciling", "applyset.kubernetes.io/", "reconcilekit.dev/paused",
		"Paused", "Resumed", "Pruned", "Deleted",
		health.InvalidSpec.String(), health.MissingUpstreamDependency.String(), health.MissingDownstreamDependency.String(), health.Auth.String(),
		health.ResourceExhaustion.String(), health.Infrastructure.String(), health.Conflict.String(), health.ProgramError.String(), health.Unknown.String(),
	}

	for _, r := range reasons(t, base) {
		// Rejections and failures are what users look up first.
		if r.from == "health" && !strings.HasSuffix(r.value, "Valid") && r.value != "Reachable" {
			productNames = append(productNames, r.value)
		}
	}

	names := persisted(t, base)
	if len(names) < leastNames {
		t.Errorf("found %d names of labels, annotations, finalizers and field managers, want at least %d: %q", len(names), leastNames, names)
	}
	for _, name := range names {
		if name != "reconcilekit.dev/controller-uid" && !strings.Contains(string(text), name) { // an index is not stored in objects
			t.Errorf("docs/operations.md does not have %s", name)
		}
	}

	for _, word := range productNames {
		if !strings.Contains(string(text), "`"+word) {
			t.Errorf("docs/operations.md does not have `%s`", word)
		}
	}
}

const leastNames = 14

// persisted returns the names that the loop and the engine write into metadata: labels, annotations and finalizers with
// their domain or from the slash after a domain, and suffixes of field managers from the colon.
func persisted(t *testing.T, base string) (found []string) {
	t.Helper()

	name := regexp.MustCompile(`"((?:[a-z.]*(?:reconcilekit\.dev|applyset\.kubernetes\.io))/[a-z-]*)"|omain \+ "(/[a-z-]+)"|prefix \+ "([a-z-]+)"|(?i:manager)[^"\n]*\+ ?"([:-][a-z]+)"`)

	err := fs.WalkDir(os.DirFS(base), "reconcile", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "reconciletest":
			return fs.SkipDir
		case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}

		text, err := os.ReadFile(filepath.Join(base, file))

		for _, match := range name.FindAllStringSubmatch(string(text), -1) {
			found = append(found, strings.Join(match[1:], ""))
		}

		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	slices.Sort(found)

	return slices.Compact(found)
}

var (
	reasonName = regexp.MustCompile(`^(?i:reason)[A-Z]`)
	// subject matches the start of a constant's comment.
	subject = regexp.MustCompile(`^(?i:reason)\w+(?: stands for| reports that| announces that| announces| is the reason of| is the reason for|:) `)
)

// reasons returns the constants whose name starts with "reason", in order, once per package.
func reasons(t *testing.T, base string) []reason {
	t.Helper()

	var found []reason

	for _, folder := range []string{"health", "reconcile", "routing", "templates"} {
		err := filepath.WalkDir(filepath.Join(base, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}

			name, err := filepath.Rel(base, filepath.Dir(path))
			if err != nil {
				return err
			}

			if name != filepath.Join("reconcile", "reconciletest") {
				found = append(found, reasonsOf(parse(t, path), filepath.ToSlash(name))...)
			}

			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}

	slices.SortStableFunc(found, func(a, b reason) int { return strings.Compare(a.value+" "+a.from, b.value+" "+b.from) })

	return slices.CompactFunc(found, func(a, b reason) bool { return a.value == b.value && a.from == b.from })
}

func reasonsOf(file *ast.File, from string) (found []reason) {
	for _, declaration := range file.Decls {
		group, ok := declaration.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}

		for _, spec := range group.Specs {
			constant, ok := spec.(*ast.ValueSpec)
			if !ok || len(constant.Names) != 1 || len(constant.Values) != 1 || !reasonName.MatchString(constant.Names[0].Name) {
				continue
			}

			literal, ok := constant.Values[0].(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				continue
			}

			value, err := strconv.Unquote(literal.Value)
			if err != nil {
				continue
			}

			doc := constant.Doc
			if doc == nil {
				doc = constant.Comment
			}

			if doc == nil && len(group.Specs) == 1 {
				doc = group.Doc
			}

			public, _, _ := strings.Cut(from, "/internal/")
			found = append(found, reason{value, meaning(doc), public})
		}
	}

	return found
}

// meaning returns a comment on one line, without its subject.
func meaning(doc *ast.CommentGroup) string {
	text := strings.Join(strings.Fields(doc.Text()), " ")
	text = strings.TrimSuffix(subject.ReplaceAllString(text, ""), ".")

	return strings.NewReplacer("|", "\\|", "[", "", "]", "").Replace(text)
}
