package scaffold

import (
	"errors"
	"fmt"
	"go/format"
	"path"
	"regexp"
	"strings"
)

// Files maps paths with slashes, relative to the folder of the project, to contents.
type Files map[string]string

// format formats the Go files, whose imports and kinds are in the order in which they were added.
func (f Files) format() error {
	for name, text := range f {
		if path.Ext(name) != ".go" {
			continue
		}
		formatted, err := format.Source([]byte(text))
		if err != nil {
			return fmt.Errorf("format %s: %w", name, err)
		}
		f[name] = string(formatted)
	}
	return nil
}

// Project is an operator. Name, Domain, Module and SDK are required.
type Project struct {
	// Name is the name of the program, its namespace and its objects.
	Name string
	// Domain is the suffix of the API groups.
	Domain string
	// Module is the path of the Go module.
	Module string
	// SDK is the version of the SDK to require.
	SDK string
	// Replace is the folder of a checkout of the SDK that replaces the module. Optional.
	Replace string
}

var (
	label  = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,40}[a-z0-9])?$`)
	domain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$`)
	module = regexp.MustCompile(`^[A-Za-z0-9._~/-]+$`)
)

// Files returns the files of an operator without kinds.
func (p Project) Files() (Files, error) {
	var errs []error
	for _, c := range []struct {
		flag, value string
		want        *regexp.Regexp
		example     string
	}{
		{"name", p.Name, label, "a DNS-1123 label of at most 42 bytes, such as shop"},
		{"domain", p.Domain, domain, "a domain, such as example.com"},
		{"module", p.Module, module, "the path of a Go module, such as example.com/shop"},
	} {
		if !c.want.MatchString(c.value) {
			errs = append(errs, fmt.Errorf("--%s %q: want %s", c.flag, c.value, c.example))
		}
	}
	if p.SDK == "" {
		errs = append(errs, errors.New(`--sdk-version "": want a version of the SDK, such as v0.1.0, or --replace with a checkout of it`))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return render(p, map[string]string{
		"init/main.go.tmpl": "main.go", "init/main_test.go.tmpl": "main_test.go", "init/go.mod.tmpl": "go.mod", "init/Makefile.tmpl": "Makefile",
		"init/Dockerfile.tmpl": "Dockerfile", "init/gitignore.tmpl": ".gitignore",
	})
}

var (
	moduleLine = regexp.MustCompile(`(?m)^module (\S+)$`)
	leaseLine  = regexp.MustCompile(`LeaseName: +"[^".]+\.([^"]+)"`)
)

// ProjectOf reads module and domain of a project from its files.
func ProjectOf(files Files) (Project, error) {
	found, lease := moduleLine.FindStringSubmatch(files["go.mod"]), leaseLine.FindStringSubmatch(files["main.go"])
	if found == nil || lease == nil {
		return Project{}, errors.New("this folder has no go.mod with a module, or no main.go with a LeaseName: run reconcilekit init first")
	}
	return Project{Module: found[1], Domain: lease[1]}, nil
}

// insert adds a line above a marker, if it is missing.
func insert(files, changed Files, name, marker, line string) error {
	text, ok := changed[name]
	if !ok {
		text = files[name]
	}
	at := strings.Index(text, "//reconcilekit:"+marker)
	if at < 0 {
		return fmt.Errorf("%s has no line //reconcilekit:%s: add %q by hand, and the marker for the next kind", name, marker, line)
	}
	if strings.Contains(text, line) {
		return nil
	}
	start := strings.LastIndex(text[:at], "\n") + 1
	changed[name] = text[:start] + text[start:at] + line + "\n" + text[start:]
	return nil
}

// add adds files; an existing file is an error, because it may have been edited.
func add(existing, into, files Files) error {
	for name, text := range files {
		if _, there := existing[name]; there {
			return fmt.Errorf("%s already exists: delete it first, or choose another kind", path.Clean(name))
		}
		into[name] = text
	}
	return nil
}
