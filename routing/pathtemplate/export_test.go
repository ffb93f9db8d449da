package pathtemplate

import (
	"fmt"
	"reflect"

	"k8s.io/client-go/util/jsonpath"
)

// Spent renders a template and returns how many steps that took, and the limit that it exceeded, if it did.
func Spent(template string, object any, o Options) (steps int, limit error) {
	compiled, err := compilePath(template, false)
	if err != nil {
		return 0, nil //nolint:nilerr // nothing is evaluated
	}
	spent := evaluation{maxSteps: o.orDefaults().Steps, maxResults: o.orDefaults().Results}
	for i := range compiled.parts {
		if e := compiled.parts[i].expression; e != nil {
			if _, err := e.evaluate(object, &spent); err != nil {
				break
			}
		}
	}
	return spent.steps, spent.limit
}

// Find evaluates an expression here and by kubectl's evaluator, and returns what both found, as text. Limited means
// that the budget ended the evaluation.
func Find(text string, object any) (here, kubectl string, limited bool) {
	root, err := compileQuery(text)
	if err != nil {
		return "", "", true
	}
	spent := evaluation{maxSteps: defaultSteps, maxResults: defaultResults}
	here = printed(func() ([]reflect.Value, error) {
		return spent.list([]reflect.Value{reflect.ValueOf(object)}, root.Nodes)
	})
	if spent.limit != nil {
		return "", "", true
	}
	kubectl = printed(func() (found []reflect.Value, err error) {
		query := jsonpath.New(text)
		if err := query.Parse("{" + dottedKeys(text) + "}"); err != nil {
			return nil, err
		}
		groups, err := query.FindResults(object)
		for _, group := range groups {
			found = append(found, group...)
		}
		return found, err
	})
	return here, kubectl, false
}

// printed writes values, in any order, or that there is an error: the words of errors may differ.
func printed(find func() ([]reflect.Value, error)) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = "error"
		}
	}()
	found, err := find()
	if err != nil {
		return "error"
	}
	counts := map[string]int{}
	for _, value := range found {
		counts[fmt.Sprintf("%T %v", value, indirect(value))]++
	}
	return fmt.Sprint(counts)
}

// DefaultSteps is the budget where none is given.
const DefaultSteps = defaultSteps
