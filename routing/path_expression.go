package routing

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/jsonpath"
)

// source is where an expression finds its value.
type source int

const (
	fromQuery source = iota // anywhere, by JSONPath
	fromName                // the others are read from metadata without reflection
	fromNamespace
	fromUID
	fromLabel
	fromAnnotation
)

// expression is what stands between one pair of braces.
type expression struct {
	text         string // as the user wrote it, trimmed
	source       source
	key          string   // of a label or an annotation
	bracketed    bool     // the key stands in brackets and quotes
	multiSegment bool     // the value may hold slashes
	steps        []string // names to follow; nil if the expression is more than names
	query        *jsonpath.JSONPath
}

// parseExpression reads the text of an expression, and compiles what is more than a path of names.
func parseExpression(text string) (*expression, error) {
	if text == "" {
		return nil, errors.New("jsonpath expression is empty")
	}
	e := &expression{text: text, steps: plainSteps(text)}
	e.recognise()
	if e.steps != nil {
		return e, nil
	}
	query, err := compileQuery(text)
	e.query = query
	return e, err
}

// recognise finds the expressions that need no JSONPath.
func (e *expression) recognise() {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(e.text, "$"), ".metadata.")
	if !ok {
		return
	}
	switch rest {
	case "name":
		e.source = fromName
		return
	case "namespace":
		e.source = fromNamespace
		return
	case "uid":
		e.source = fromUID
		return
	}
	if key, ok := strings.CutPrefix(rest, "labels"); ok && e.recogniseKey(key) {
		e.source = fromLabel
	}
	if key, ok := strings.CutPrefix(rest, "annotations"); ok && e.recogniseKey(key) {
		e.source = fromAnnotation
		e.multiSegment = e.bracketed
	}
}

// recogniseKey reads the key in ".key", "['key']" or "["key"]" that fills s to its end.
func (e *expression) recogniseKey(s string) bool {
	if key, length := bracketKey(s); length == len(s) && length > 0 {
		e.key, e.bracketed = key, true
		return true
	}
	key, ok := strings.CutPrefix(s, ".")
	if !ok || key == "" || strings.ContainsFunc(key, func(r rune) bool {
		return r != '-' && r != '_' && r != '/' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return false
	}
	e.key = key
	return true
}

// bracketKey returns the key of "['key']" or "["key"]" at the start of s and the length of the whole, 0 if there is none.
func bracketKey(s string) (string, int) {
	if len(s) < 2 || s[0] != '[' || s[1] != '\'' && s[1] != '"' {
		return "", 0
	}
	end := strings.IndexByte(s[2:], s[1])
	if end <= 0 || !strings.HasPrefix(s[2+end+1:], "]") || strings.Contains(s[2:2+end], `\`) {
		return "", 0
	}
	return s[2 : 2+end], 2 + end + 2
}

// compileQuery returns the JSONPath query of an expression.
func compileQuery(expression string) (*jsonpath.JSONPath, error) {
	text := "{" + dottedKeys(expression) + "}"
	parser, err := jsonpath.Parse(expression, text)
	if err != nil {
		return nil, fmt.Errorf("invalid jsonpath expression: %w", err)
	}
	if err := checkNodes(parser.Root); err != nil {
		return nil, err
	}
	query := jsonpath.New(expression)
	if err := query.Parse(text); err != nil {
		return nil, fmt.Errorf("invalid jsonpath expression: %w", err)
	}
	return query, nil
}

// dottedKeys rewrites keys in brackets to escaped dotted keys: jsonpath takes a dot inside ['a.b'] for a separator, and
// knows no double quotes there. Quoted text elsewhere is left alone.
func dottedKeys(text string) string {
	if !strings.Contains(text, "[") {
		return text
	}
	var b strings.Builder
	quoted := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted == 0 && (c == '\'' || c == '"'):
			quoted = c
		case quoted == c:
			quoted = 0
		case quoted == 0 && c == '[':
			if key, length := bracketKey(text[i:]); length > 0 {
				b.WriteByte('.')
				for _, r := range key {
					b.WriteByte('\\')
					b.WriteRune(r)
				}
				i += length - 1
				continue
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

// checkNodes refuses what has no single value: loops and bare words, and fields without a name. A query without them
// changes nothing while it is evaluated, so one may serve several goroutines.
func checkNodes(node jsonpath.Node) error {
	switch node := node.(type) {
	case *jsonpath.ListNode:
		return checkList(node.Nodes)
	case *jsonpath.UnionNode:
		for _, list := range node.Nodes {
			if err := checkNodes(list); err != nil {
				return err
			}
		}
	case *jsonpath.FilterNode:
		if err := checkNodes(node.Left); err != nil {
			return err
		}
		return checkNodes(node.Right)
	case *jsonpath.FieldNode:
		if node.Value == "" {
			return errors.New("invalid jsonpath expression: a dot without a field name")
		}
	case *jsonpath.IdentifierNode:
		if node.Name == "range" || node.Name == "end" {
			return errors.New("invalid jsonpath expression: loops (range, end) have no place in a path")
		}
		return fmt.Errorf("jsonpath evaluation error: unrecognized identifier %s (a field starts with a dot: .%s)", node.Name, node.Name)
	}
	return nil
}

func checkList(nodes []jsonpath.Node) error {
	for _, node := range nodes {
		if err := checkNodes(node); err != nil {
			return err
		}
	}
	return nil
}

// evaluate returns the one value of the expression.
func (e *expression) evaluate(object any) (string, error) {
	if meta, ok := object.(metav1.Object); ok {
		switch e.source {
		case fromName:
			return meta.GetName(), nil
		case fromNamespace:
			return meta.GetNamespace(), nil
		case fromUID:
			return string(meta.GetUID()), nil
		case fromLabel:
			return e.lookup("label", meta.GetLabels())
		case fromAnnotation:
			return e.lookup("annotation", meta.GetAnnotations())
		case fromQuery:
		}
	}
	return e.search(object)
}

func (e *expression) lookup(what string, values map[string]string) (string, error) {
	value, ok := values[e.key]
	switch {
	case ok:
		return value, nil
	case e.bracketed:
		return "", fmt.Errorf("jsonpath evaluation error: %s %q not found", what, e.key)
	}
	return "", fmt.Errorf("jsonpath evaluation error: %s is not found", e.key)
}

// search finds the value anywhere in the object. Reflection over any Go type panics on a few, such as a nil embedded pointer or
// an unexported field in a filter; to the user that is a path which leads nowhere.
func (e *expression) search(object any) (value string, err error) {
	defer func() {
		if r := recover(); r != nil {
			value, err = "", fmt.Errorf("jsonpath evaluation error: %v", r)
		}
	}()
	if content, ok := object.(interface{ UnstructuredContent() map[string]any }); ok {
		object = content.UnstructuredContent()
	}
	if e.steps != nil {
		found, err := walk(reflect.ValueOf(object), e.steps)
		if err != nil {
			return "", err
		}
		return scalar(found)
	}
	groups, err := e.query.FindResults(object)
	if err != nil {
		return "", fmt.Errorf("jsonpath evaluation error: %w", err)
	}
	var found []reflect.Value
	for _, group := range groups {
		found = append(found, group...)
	}
	switch len(found) {
	case 0:
		return "", errors.New("jsonpath returned no results")
	case 1:
		return scalar(found[0])
	}
	return "", errors.New("jsonpath returned multiple results")
}
