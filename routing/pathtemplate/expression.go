package pathtemplate

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/jsonpath"
)

// source is the kind of lookup of an expression.
type source int

const (
	fromQuery source = iota // anywhere, by JSONPath
	fromName                // the sources below are read from metadata without reflection
	fromNamespace
	fromUID
	fromLabel
	fromAnnotation
)

// expression is the content of one pair of braces.
type expression struct {
	text         string // as the user wrote it, trimmed
	source       source
	key          string   // of a label or an annotation
	bracketed    bool     // the key stands in brackets and quotes
	multiSegment bool     // the value may contain slashes
	steps        []string // names to follow; nil if the expression has other elements
	query        *jsonpath.ListNode
}

// parseExpression parses the text of an expression, and compiles it unless it is a path of names.
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

// recognise finds expressions that do not need JSONPath.
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

// recogniseKey parses the key in ".key", "['key']" or "["key"]" that extends to the end of s.
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

// evaluate returns the one value of the expression and charges the budget.
func (e *expression) evaluate(object any, spent *evaluation) (string, error) {
	if err := spent.spend(1 + len(e.steps)); err != nil {
		return "", err
	}
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
	return e.search(object, spent)
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

// search looks up the value in the object. Reflection panics on a few Go types, such as a nil embedded pointer or an unexported field in
// a filter; search reports these as a path without a value.
func (e *expression) search(object any, spent *evaluation) (value string, err error) {
	defer func() {
		if r := recover(); r != nil {
			value, err = "", fmt.Errorf("jsonpath evaluation error: %v", r)
		}
	}()
	if content, ok := object.(interface{ UnstructuredContent() map[string]any }); ok {
		object = content.UnstructuredContent()
	}
	found, err := e.find(reflect.ValueOf(object), spent)
	if err != nil {
		return "", err
	}
	return scalar(found, spent)
}

// find returns the one value of the expression.
func (e *expression) find(object reflect.Value, spent *evaluation) (reflect.Value, error) {
	if e.steps != nil {
		return walk(object, e.steps)
	}
	found, err := spent.list([]reflect.Value{object}, e.query.Nodes)
	switch {
	case err != nil:
		return reflect.Value{}, fmt.Errorf("jsonpath evaluation error: %w", err)
	case len(found) == 0:
		return reflect.Value{}, errors.New("jsonpath returned no results")
	case len(found) > 1:
		return reflect.Value{}, errors.New("jsonpath returned multiple results")
	}
	return found[0], nil
}
