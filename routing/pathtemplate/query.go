package pathtemplate

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/client-go/util/jsonpath"
)

// compileQuery parses an expression with kubectl's parser; [evaluation] evaluates it.
func compileQuery(expression string) (*jsonpath.ListNode, error) {
	parser, err := jsonpath.Parse(expression, "{"+dottedKeys(expression)+"}")
	if err != nil {
		return nil, fmt.Errorf("invalid jsonpath expression: %w", err)
	}
	if len(parser.Root.Nodes) != 1 {
		return nil, errors.New("invalid jsonpath expression: text follows a closing brace")
	}
	root, ok := parser.Root.Nodes[0].(*jsonpath.ListNode)
	if !ok {
		return nil, errors.New("invalid jsonpath expression: text in place of an expression")
	}
	count := 0
	return root, checkNodes(root.Nodes, &count)
}

// dottedKeys rewrites keys in brackets to escaped dotted keys: jsonpath treats a dot inside ['a.b'] as a separator and does not support
// double quotes there. Other quoted text is not changed.
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

// checkNode rejects nodes without a single value (loops, bare words, fields without a name) and expressions with too many nodes.
func checkNode(node jsonpath.Node, count *int) error {
	if *count++; *count > maxNodes {
		return exceeded("name the one field that the path needs",
			"the expression has more than %d names, keys, indices and wildcards, the limit of an expression", maxNodes)
	}
	switch node := node.(type) {
	case *jsonpath.ListNode:
		return checkNodes(node.Nodes, count)
	case *jsonpath.UnionNode:
		return checkNodes(node.Nodes, count)
	case *jsonpath.FilterNode:
		return checkNodes([]*jsonpath.ListNode{node.Left, node.Right}, count)
	case *jsonpath.FieldNode:
		if node.Value == "" {
			return errors.New("invalid jsonpath expression: a dot without a field name")
		}
	case *jsonpath.IdentifierNode:
		if node.Name == "range" || node.Name == "end" {
			return errors.New("invalid jsonpath expression: loops (range, end) are not supported in a path")
		}
		return fmt.Errorf("jsonpath evaluation error: unrecognized identifier %s (a field starts with a dot: .%s)", node.Name, node.Name)
	}
	return nil
}

func checkNodes[N jsonpath.Node](nodes []N, count *int) error {
	for _, node := range nodes {
		if err := checkNode(node, count); err != nil {
			return err
		}
	}
	return nil
}
