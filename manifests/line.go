package manifests

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"text/template"
)

// place is a position in a template.
type place struct {
	template string
	line     int
}

// lines maps each line of a rendered text to its origin.
type lines []place

// at returns the place of a line, starting at 1, or the last place if there are fewer.
func (l lines) at(line int) place {
	return l[min(max(line, 1), len(l))-1]
}

// fail returns an [Error] about a rendered line.
func (l lines) fail(line int, err error) error {
	at := l.at(line)
	return &Error{Template: at.template, Line: at.line, Err: err}
}

// templateLine matches the position in an error of text/template: "template: name:line:column: ...". The parser omits the column.
var templateLine = regexp.MustCompile(`^template: ([^:]+):(\d+):(?:\d+:)? (.*)$`)

// located converts an error of text/template to an [Error].
func located(name string, err error) error {
	text := err.Error()
	if found := templateLine.FindStringSubmatch(strings.ReplaceAll(text, "\n", " ")); found != nil {
		line, _ := strconv.Atoi(found[2])
		var execution template.ExecError
		if errors.As(err, &execution) && execution.Err != nil {
			err = execution.Err
		}
		return &Error{Template: found[1], Line: line, Err: textError{text: found[3], cause: err}}
	}
	return &Error{Template: name, Err: err}
}

// textError replaces the text of its cause.
type textError struct {
	text  string
	cause error
}

func (e textError) Error() string { return e.text }
func (e textError) Unwrap() error { return e.cause }
