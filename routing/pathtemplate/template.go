package pathtemplate

import (
	"bytes"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/routing/internal/problem"
)

// Template is a compiled path template. It is immutable and safe for concurrent use.
type Template struct {
	source   string
	options  Options
	compiled *compiledPath
	static   string // the result of a template without expressions
}

// errEmptyPath is returned for a template without any text, whether it is empty or consists of unset fields.
var errEmptyPath = errors.New("route template produced an empty path")

// Parse compiles a path template. Text outside braces is literal; "{...}" contains one JSONPath expression over the object (the syntax of
// kubectl, without range and end); "\{", "\}" and "\\" are literal characters. White space around the template and inside the braces is
// ignored.
//
// Parse returns an error for a template that can never render: unbalanced or nested braces, empty or malformed expressions, loops, and,
// for a template without expressions, everything that [Template.Render] rejects. Errors are of category InvalidSpec with reason
// PathTemplateInvalid.
func Parse(template string, o Options) (*Template, error) {
	t := &Template{source: template, options: o.orDefaults()}
	if t.options.MaxBytes < 1 || t.options.MaxBytes > maxPathLength {
		return nil, t.fail(fmt.Errorf("a limit of %d bytes", t.options.MaxBytes), fmt.Sprintf("use 1 to %d", maxPathLength))
	}
	if t.options.Steps < 0 || t.options.Results < 0 {
		return nil, t.fail(fmt.Errorf("a budget of %d steps and %d results", t.options.Steps, t.options.Results),
			"use positive numbers, or 0 for the default")
	}
	var err error
	if t.compiled, err = t.options.Cache.compile(template, t.options.Encoded); err != nil {
		return nil, t.fail(err, advice(err, "expressions look like {.metadata.name}, a literal brace like \\{"))
	}
	if t.compiled.static() {
		if t.static, err = t.render(nil); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Render returns the path for an object: a pointer to an API type, an unstructured object, or a map as JSON decodes it. Every expression
// must have exactly one value that is a string, number or boolean in JSON. A missing key, null, a list or a map is an error; an unset
// string of a Go struct is the empty string.
//
// A value fills one segment, or a part of it. Its "/" does not start another segment, except for an annotation in brackets
// ({.metadata.annotations['key']}), whose value may be a path of several segments.
//
// [Options].Steps and Results bound the work of a rendering for any template and object.
//
// The result starts with "/", has no empty or dot segments and no "/" at its end, satisfies the rules of an HTTPRoute path match, and
// does not exceed the allowed length. Errors are of category InvalidSpec, reason PathTemplateInvalid.
func (t *Template) Render(object any) (string, error) {
	if t.static != "" {
		return t.static, nil
	}
	return t.render(object)
}

// String returns the source of the template.
func (t *Template) String() string { return t.source }

func (t *Template) render(object any) (string, error) {
	var space [2 * DefaultMaxBytes]byte
	text := space[:0]
	spent := evaluation{maxSteps: t.options.Steps, maxResults: t.options.Results}
	for i := range t.compiled.parts {
		part := &t.compiled.parts[i]
		if part.expression == nil {
			text = append(text, part.literal...)
			continue
		}
		value, err := part.expression.evaluate(object, &spent)
		if err == nil {
			err = spent.text(value)
		}
		if err == nil {
			text, err = appendValue(text, value, t.options.Encoded, part.expression.multiSegment)
		}
		if err != nil {
			return "", t.fail(inExpression(part.expression.text, err),
				advice(err, "an expression must give exactly one string, number or boolean of the object"))
		}
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return "", t.fail(errEmptyPath, "add a literal segment, or name a field that is set")
	}
	return t.normalise(text)
}

// normalise joins the remaining segments of the cleaned text and checks the result.
func (t *Template) normalise(text []byte) (string, error) {
	var space [2 * DefaultMaxBytes]byte
	path := space[:0]
	for len(text) > 0 {
		segment, rest, _ := bytes.Cut(text, []byte{'/'})
		text = rest
		before := len(path)
		path = append(path, '/')
		var err error
		if path, err = appendSegment(path, segment, t.options.Encoded); err != nil {
			return "", t.fail(err, `use a path without ".." segments`)
		}
		if len(path) == before+1 {
			path = path[:before]
		}
	}
	if len(path) > t.options.MaxBytes {
		return "", t.fail(fmt.Errorf("route path %q exceeds %d characters", string(path), t.options.MaxBytes),
			fmt.Sprintf("shorten it by %d bytes", len(path)-t.options.MaxBytes))
	}
	if len(path) > 0 {
		return string(path), nil
	}
	if !t.options.AllowRoot {
		return "", t.fail(errors.New(`the path collapses to "/", which would match every request of the listener`),
			"add a segment with letters or digits")
	}
	return "/", nil
}

// fail wraps a problem of the template with the field, its value and the accepted form.
func (t *Template) fail(cause error, advice string) error {
	return problem.Invalid(reasonInvalid, cause, "%s %s: %s: %s", t.options.Field, problem.Quote(t.source), problem.Shorten(cause.Error()), advice)
}

// reasonInvalid is the reason of all errors of this package: a template cannot be parsed, or gives no usable path for this object.
const reasonInvalid = "PathTemplateInvalid"

// Default returns the path of an owner without a template: /<namespace>/<uid> in DNS-safe segments, without empty ones. If both are
// empty, which no stored object has, the path is "/", an error unless the options allow it.
func Default(object metav1.Object, o Options) (string, error) {
	path := make([]byte, 0, 2*maxSegment)
	for _, text := range []string{object.GetNamespace(), string(object.GetUID())} {
		before := len(path)
		path = appendDNS(append(path, '/'), text)
		if len(path) == before+1 {
			path = path[:before]
		}
	}
	switch {
	case len(path) > 0:
		return string(path), nil
	case o.AllowRoot:
		return "/", nil
	}
	t := &Template{options: o.orDefaults()}
	return "", t.fail(errors.New(`the default path collapses to "/"`), "the object has neither namespace nor UID yet")
}
