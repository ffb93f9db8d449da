package manifests

import (
	"strconv"
	"strings"
	"text/template/parse"
)

// Functions that are added to the parsed templates, with names that a template does not use by accident.
const (
	functionValue     = "_manifests_value" // at the end of every pipeline that writes
	functionIteration = "_manifests_turn"  // at the start of every loop iteration
)

// instrument makes every action of a template report the values that it writes, and records the positions of the texts between them. It
// does not change the output.
func (s *Set) instrument(tree *parse.Tree) {
	s.instrumentNode(tree, tree.Root)
}

func (s *Set) instrumentNode(tree *parse.Tree, node parse.Node) {
	switch n := node.(type) {
	case *parse.ListNode:
		if n == nil {
			return
		}
		for _, child := range n.Nodes {
			s.instrumentNode(tree, child)
		}
	case *parse.IfNode:
		s.instrumentBranch(tree, &n.BranchNode)
	case *parse.WithNode:
		s.instrumentBranch(tree, &n.BranchNode)
	case *parse.RangeNode:
		s.instrumentBranch(tree, &n.BranchNode)
		iteration := &parse.ActionNode{NodeType: parse.NodeAction, Pos: n.Pos, Line: n.Line, Pipe: &parse.PipeNode{
			NodeType: parse.NodePipe, Pos: n.Pos, Line: n.Line, Cmds: []*parse.CommandNode{call(functionIteration, n.Pos)},
		}}
		n.List.Nodes = append([]parse.Node{iteration}, n.List.Nodes...)
	case *parse.ActionNode:
		if len(n.Pipe.Decl) == 0 && len(n.Pipe.Cmds) > 0 {
			n.Pipe.Cmds = append(n.Pipe.Cmds, call(functionValue, n.Pos))
		}
	case *parse.TextNode:
		if len(n.Text) > 0 {
			s.texts[&n.Text[0]] = place{template: tree.ParseName, line: lineOf(tree, n)}
		}
	}
}

func (s *Set) instrumentBranch(tree *parse.Tree, n *parse.BranchNode) {
	s.instrumentNode(tree, n.List)
	s.instrumentNode(tree, n.ElseList)
}

func call(function string, at parse.Pos) *parse.CommandNode {
	return &parse.CommandNode{NodeType: parse.NodeCommand, Pos: at, Args: []parse.Node{parse.NewIdentifier(function).SetPos(at)}}
}

// lineOf returns the line of the first byte of a text.
func lineOf(tree *parse.Tree, n *parse.TextNode) int {
	location, _ := tree.ErrorContext(n) // name:line:column
	_, line, _ := strings.Cut(location, ":")
	number, _, _ := strings.Cut(line, ":")
	at, _ := strconv.Atoi(number)
	return at
}
