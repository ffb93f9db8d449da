package manifests

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
)

// mark begins and ends the note at the end of a rendered line that says where it comes from. It is a control character,
// which YAML does not allow.
const mark = '\x01'

// place is a line of a template.
type place struct {
	template string
	line     int
}

// lines says, for each line of a rendered text, where it comes from.
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

// markLines notes the line at each line end of the template's own text.
func markLines(tree *parse.Tree) {
	markNode(tree, tree.Root)
}

func markNode(tree *parse.Tree, node parse.Node) {
	switch n := node.(type) {
	case *parse.ListNode:
		if n == nil {
			return
		}
		for _, child := range n.Nodes {
			markNode(tree, child)
		}
	case *parse.IfNode:
		markBranch(tree, &n.BranchNode)
	case *parse.RangeNode:
		markBranch(tree, &n.BranchNode)
	case *parse.WithNode:
		markBranch(tree, &n.BranchNode)
	case *parse.TextNode:
		if !strings.Contains(string(n.Text), string(mark)) {
			n.Text = markText(tree, n)
		}
	}
}

func markBranch(tree *parse.Tree, n *parse.BranchNode) {
	markNode(tree, n.List)
	markNode(tree, n.ElseList)
}

func markText(tree *parse.Tree, n *parse.TextNode) []byte {
	location, _ := tree.ErrorContext(n) // name:line:column of the text's first byte
	_, line, _ := strings.Cut(location, ":")
	number, _, _ := strings.Cut(line, ":")
	at, _ := strconv.Atoi(number)
	var marked strings.Builder
	for _, r := range string(n.Text) {
		if r == '\n' {
			marked.WriteString(string(mark) + tree.ParseName + ":" + strconv.Itoa(at) + string(mark))
			at++
		}
		marked.WriteRune(r)
	}
	return []byte(marked.String())
}

// unmark takes the notes out of a rendered text. A line without a note, such as those of a value with several lines, has the
// place of the next one that has a note.
func unmark(name, text string) (string, lines) {
	rendered := strings.Split(text, "\n")
	places := make(lines, len(rendered))
	for i, line := range rendered {
		begin := strings.IndexRune(line, mark)
		if begin < 0 {
			continue
		}
		note, _, _ := strings.Cut(line[begin+1:], string(mark))
		colon := strings.LastIndex(note, ":")
		places[i].template = note[:colon]
		places[i].line, _ = strconv.Atoi(note[colon+1:])
		rendered[i] = line[:begin]
	}
	last := place{template: name}
	for i := range places {
		if places[i].template == name {
			last.line = places[i].line + 1
		}
	}
	for i, known := range slices.Backward(places) {
		if known.template == "" {
			places[i] = last
		}
		last = places[i]
	}
	return strings.Join(rendered, "\n"), places
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
