package manifests

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Object is a Kubernetes object with the content of its template or stream. It is an [unstructured.Unstructured], so that a plan includes
// values such as false, 0, "" and [], which Go types omit. It implements client.Object. [Change] edits it as a Go type.
type Object interface {
	metav1.Object
	runtime.Object
}

// Set is a set of parsed templates. Create one with [Parse]. It is safe for concurrent use.
type Set struct {
	scheme    *runtime.Scheme
	templates *template.Template
	names     []string
	texts     map[*byte]place // origin of the texts between the actions of the templates, by their first byte
	renderers sync.Pool       // of *renderer
}

// Error is an error in a template or in its output.
type Error struct {
	// Template is the base name of the file.
	Template string
	// Line is the line of the template, starting at 1; zero for the entire file.
	Line int
	// Err is the underlying error.
	Err error
}

// Error returns "template:line: error".
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Template + ": " + e.Err.Error()
	}
	return e.Template + ":" + strconv.Itoa(e.Line) + ": " + e.Err.Error()
}

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// Parse parses the templates whose paths match one of the patterns (fs.Glob). A template is identified by its base name, which must be
// unique. The scheme lists the accepted kinds. A pattern without matches is an error.
func Parse(files fs.FS, scheme *runtime.Scheme, patterns ...string) (*Set, error) {
	set := &Set{scheme: scheme, texts: map[*byte]place{}}
	set.templates = template.New("").Option("missingkey=error").Funcs((&renderer{}).functions())
	for _, pattern := range patterns {
		found, err := fs.Glob(files, pattern)
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", pattern, err)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("pattern %q matches no file", pattern)
		}
		for _, file := range found {
			if err := set.parse(files, file); err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(set.names)
	return set, nil
}

// Names lists the templates that can be rendered, sorted.
func (s *Set) Names() []string { return slices.Clone(s.names) }

func (s *Set) parse(files fs.FS, file string) error {
	name := path.Base(file)
	if s.templates.Lookup(name) != nil {
		return fmt.Errorf("template %s: the name is taken by another file", file)
	}
	text, err := fs.ReadFile(files, file)
	if err != nil {
		return fmt.Errorf("template %s: %w", file, err)
	}
	if _, err := s.templates.New(name).Parse(string(text)); err != nil {
		return located(name, err)
	}
	for _, t := range s.templates.Templates() {
		if t.Tree != nil && t.ParseName == name {
			s.instrument(t.Tree)
		}
	}
	if !strings.HasPrefix(name, "_") {
		s.names = append(s.names, name)
	}
	return nil
}

// Render executes the template with data and returns the resulting object. The object must decode strictly as the Go type of its kind in
// the scheme. A string of the data appears unchanged in the object, or Render returns an error. Errors are of type [Error].
func (s *Set) Render(name string, data any) (Object, error) {
	if !slices.Contains(s.names, name) {
		return nil, &Error{Template: name, Err: fmt.Errorf("unknown template; want one of %s", strings.Join(s.names, ", "))}
	}
	r, err := s.renderer()
	if err != nil {
		return nil, located(name, err)
	}
	defer s.release(r)
	if err := r.templates.ExecuteTemplate(r, name, data); err != nil {
		return nil, located(name, err)
	}
	return s.decode(r.rendered(name))
}
