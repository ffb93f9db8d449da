package manifests

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"text/template"
)

// place is a line of a template.
type place struct {
	template string
	line     int
}

// lines has, for each line of a rendered text, where it comes from.
type lines []place

// at returns the place of a line, counted from 1; of the last one when there are fewer.
func (l lines) at(line int) place {
	return l[min(max(line, 1), len(l))-1]
}

// fail makes an [Error] of what is wrong with a rendered line.
func (l lines) fail(line int, err error) error {
	at := l.at(line)
	return &Error{Template: at.template, Line: at.line, Err: err}
}

// templateLine finds the place in an error of text/template: "template: name:line:column: ...", the column left out
// by the parser.
var templateLine = regexp.MustCompile(`^template: ([^:]+):(\d+):(?:\d+:)? (.*)$`)

// located turns an error of text/template into an [Error].
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

// textError has a text of its own and keeps the cause.
type textError struct {
	text  string
	cause error
}

func (e textError) Error() string { return e.text }
func (e textError) Unwrap() error { return e.cause }
