package pathtemplate

import (
	"fmt"
	"reflect"

	"k8s.io/client-go/util/jsonpath"
)

// Spent renders a template. It returns the number of steps, and the exceeded limit, if any.
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

// Find evaluates an expression with this package and with kubectl's evaluator, and returns both results as text. Limited
// says that the budget ended the evaluation.
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

// printed formats values in sorted order, or the fact that there is an error, because the texts of errors may differ.
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

// DefaultSteps is the default budget.
const DefaultSteps = defaultSteps
