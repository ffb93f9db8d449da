package observe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
)

// The dimensions of a drawing, in pixels.
const (
	boxWidth, boxHeight = 260, 24
	rowHeight           = 34
	columnWidth         = 360
	textIndent          = 8
	textBase            = 16
	margin              = 10
)

// flow is a drawing of one controller: the kinds that it reads on the left, the controller, and the kinds that it writes on the right.
type flow struct {
	Controller    string
	Width, Height int
	Boxes         []box
	Lines         []line
	Kinds         []flowKind
}

type box struct {
	X, Y, Width, Height, TextX, TextY int
	Text, Hint                        string
}

type line struct{ X1, Y1, X2, Y2 int }

// flowKind is a row of the table below the drawing.
type flowKind struct{ Name, Read, Written string }

// flows are the drawings of all controllers.
type flows []flow

// draw draws the declared dataflow of the controllers.
func draw(explainers []*Explainer) flows {
	out := make(flows, 0, len(explainers))
	for _, e := range explainers {
		out = append(out, drawn(e.Flow))
	}
	return out
}

func drawn(d dataflow.Description) flow {
	f := flow{Controller: d.Controller, Width: 2*columnWidth + boxWidth + 2*margin}
	var read, written []dataflow.Access
	for _, a := range d.Access {
		if len(a.FetchRemoteState) > 0 {
			read = append(read, a)
		}
		if len(a.Apply) > 0 || len(a.WriteStatus) > 0 {
			written = append(written, a)
		}
		f.Kinds = append(f.Kinds, flowKind{
			a.GVK, strings.Join(a.FetchRemoteState, ", "), strings.Join(slices.Concat(a.Apply, a.WriteStatus, a.Finalize), ", "),
		})
	}
	rows := max(len(read), len(written), 1)
	f.Height = rows*rowHeight + 2*margin
	middle := f.box(1, (rows-1)*rowHeight/2, d.Controller, "field manager "+d.FieldManager)
	for i, a := range read {
		b := f.box(0, i*rowHeight, a.GVK, strings.Join(a.FetchRemoteState, ", "))
		f.Lines = append(f.Lines, line{b.X + b.Width, b.Y + b.Height/2, middle.X, middle.Y + middle.Height/2})
	}
	for i, a := range written {
		b := f.box(2, i*rowHeight, a.GVK, strings.Join(slices.Concat(a.Apply, a.WriteStatus), ", "))
		f.Lines = append(f.Lines, line{middle.X + middle.Width, middle.Y + middle.Height/2, b.X, b.Y + b.Height/2})
	}
	return f
}

// box adds a box to a column.
func (f *flow) box(column, y int, text, hint string) box {
	x := margin + column*columnWidth
	y += margin
	b := box{x, y, boxWidth, boxHeight, x + textIndent, y + textBase, text, hint}
	f.Boxes = append(f.Boxes, b)
	return b
}

// text returns one line for each kind.
func (f flows) text() string {
	var b strings.Builder
	for _, one := range f {
		for _, k := range one.Kinds {
			_, _ = fmt.Fprintf(&b, "%s: %s: read %q, written %q\n", one.Controller, k.Name, k.Read, k.Written)
		}
	}
	return b.String()
}
