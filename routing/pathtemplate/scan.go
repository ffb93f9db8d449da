package pathtemplate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/reconcilekit/reconcilekit/routing/internal/problem"
)

// compiledPath is the part of a template that depends only on the segment mode.
type compiledPath struct {
	parts []pathPart
}

// pathPart is an expression, or literal text if the expression is nil.
type pathPart struct {
	literal    string
	expression *expression
}

func (c *compiledPath) static() bool {
	for i := range c.parts {
		if c.parts[i].expression != nil {
			return false
		}
	}
	return true
}

// compilePath splits a template at its braces and compiles the expressions.
func compilePath(template string, encoded bool) (*compiledPath, error) {
	if len(template) > maxTemplate {
		return nil, exceeded("shorten it: a rendered path has at most 1024 bytes",
			"the template has %d bytes, at most %d are allowed", len(template), maxTemplate)
	}
	compiled, expressions := &compiledPath{}, 0
	var literal strings.Builder
	flush := func() error {
		text := literal.String()
		literal.Reset()
		if encoded {
			var err error
			if text, err = encodeLiteral(text); err != nil {
				return err
			}
		}
		if text != "" {
			compiled.parts = append(compiled.parts, pathPart{literal: text})
		}
		return nil
	}
	template = strings.TrimSpace(template)
	for i := 0; i < len(template); i++ {
		switch c := template[i]; c {
		case '\\':
			i++
			if i == len(template) || strings.IndexByte(`{}\`, template[i]) < 0 {
				return nil, errors.New(`a backslash escapes "{", "}" or "\" and nothing else`)
			}
			literal.WriteByte(template[i])
		case '}':
			return nil, fmt.Errorf(`a closing brace at byte %d has no opening one`, i+1)
		case '{':
			text, length, err := scanExpression(template[i:], i+1)
			if err != nil {
				return nil, err
			}
			if err := flush(); err != nil {
				return nil, err
			}
			if expressions++; expressions > maxExpressions {
				return nil, exceeded("use fewer", "the template has more than %d expressions, the limit of a template", maxExpressions)
			}
			e, err := parseExpression(text)
			if err != nil {
				return nil, inExpression(text, err)
			}
			compiled.parts = append(compiled.parts, pathPart{expression: e})
			i += length - 1
		default:
			literal.WriteByte(c)
		}
	}
	return compiled, flush()
}

// scanExpression returns the trimmed text between the brace that starts s and the closing one, and the number of bytes including both
// braces. Braces inside quotes are ignored. column is the position of s, for messages.
func scanExpression(s string, column int) (string, int, error) {
	quoted := byte(0)
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case c == '\'' || c == '"':
			quoted = c
		case c == '{':
			return "", 0, fmt.Errorf("nested braces at byte %d: want one pair for each expression", column+i)
		case c == '}':
			return strings.TrimSpace(s[1:i]), i + 1, nil
		}
	}
	if quoted != 0 {
		return "", 0, fmt.Errorf("a %c in the expression that starts at byte %d is not closed", quoted, column)
	}
	return "", 0, fmt.Errorf("the brace at byte %d is not closed", column)
}

// inExpression adds the text of the expression to an error.
func inExpression(text string, err error) error {
	return fmt.Errorf("failed to evaluate route template %s: %w", problem.QuoteAtMost(text, problem.MaxQuoted/2), err)
}
