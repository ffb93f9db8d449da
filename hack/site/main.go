package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

func main() {
	root := flag.String("root", ".", "folder of the repository")
	out := flag.String("out", "bin/site", "folder to write to")
	flag.Parse()
	if err := write(*root, *out); err != nil {
		fmt.Fprintf(os.Stderr, "site: %v\n", err)
		os.Exit(1)
	}
	fmt.Println(*out + "/README.html")
}

func markdown() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
}

// pages returns the Markdown files, by path below root.
func pages(root string) (map[string][]byte, error) {
	found := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "bin" || name == "testdata" || name == "node_modules") {
			return fs.SkipDir
		}
		if entry.IsDir() || filepath.Ext(name) != ".md" {
			return nil
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		found[filepath.ToSlash(relative)], err = os.ReadFile(path)
		return err
	})
	return found, err
}

// local reports whether a link has a file of the repository as target.
func local(link string) bool {
	return link != "" && !strings.Contains(link, "://") && !strings.HasPrefix(link, "mailto:")
}

// links calls visit for each link and image of a page.
func links(page ast.Node, visit func(destination []byte) []byte) error {
	return ast.Walk(page, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := node.(type) {
		case *ast.Link:
			n.Destination = visit(n.Destination)
		case *ast.Image:
			n.Destination = visit(n.Destination)
		}
		return ast.WalkContinue, nil
	})
}

const layout = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{{ .Title }}</title>
<style>
body { max-width: 50rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; color: #222; }
pre { overflow-x: auto; padding: .75rem; background: #f5f5f5; } code { font-size: .9em; }
table { border-collapse: collapse; } td, th { padding: .25rem .5rem; border: 1px solid #ccc; text-align: left; vertical-align: top; }
</style>
<nav><a href="{{ .Up }}README.html">reconcilekit</a> · <a href="{{ .Up }}docs/README.html">documentation</a></nav>
{{ .Body }}
</html>
`

// write renders all pages.
func write(root, out string) error {
	found, err := pages(root)
	if err != nil {
		return err
	}
	parsed, err := template.New("page").Parse(layout)
	if err != nil {
		return err
	}
	for name, source := range found {
		body, err := render(source)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		var page bytes.Buffer
		if err := parsed.Execute(&page, map[string]any{
			"Title": strings.TrimSuffix(name, ".md"), "Up": strings.Repeat("../", strings.Count(name, "/")),
			"Body": template.HTML(body),
		}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		file := filepath.Join(out, strings.TrimSuffix(name, ".md")+".html")
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, page.Bytes(), 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// render renders a page; links to other pages are replaced by their rendered paths.
func render(source []byte) (string, error) {
	md := markdown()
	page := md.Parser().Parse(text.NewReader(source))
	err := links(page, func(destination []byte) []byte {
		path, anchor, _ := strings.Cut(string(destination), "#")
		if !local(path) || !strings.HasSuffix(path, ".md") {
			return destination
		}
		path = strings.TrimSuffix(path, ".md") + ".html"
		if anchor != "" {
			path += "#" + anchor
		}
		return []byte(path)
	})
	if err != nil {
		return "", err
	}
	var w bytes.Buffer
	err = md.Renderer().Render(&w, source, page)
	return w.String(), err
}
