package admission

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Limits of a response: a rejected object can have as many problems as bytes.
const (
	maxProblems = 100
	maxValue    = 1 << 10 // bytes of an invalid value
)

// bounded limits the problems in a response.
func bounded(problems field.ErrorList) field.ErrorList {
	out := make(field.ErrorList, 0, min(len(problems), maxProblems+1))
	for i, problem := range problems {
		if i == maxProblems {
			return append(out, &field.Error{
				Type: field.ErrorTypeForbidden, Field: problem.Field,
				Detail: fmt.Sprintf("and %d more problems: only the first %d are reported", len(problems)-maxProblems-1, maxProblems),
			})
		}
		if text, ok := problem.BadValue.(string); ok && len(text) > maxValue {
			short := *problem
			short.BadValue = strings.ToValidUTF8(text[:maxValue], "") + "..."
			problem = &short
		}
		out = append(out, problem)
	}
	return out
}
