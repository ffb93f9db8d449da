package templates

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/reconcilekit/reconcilekit/internal/text"
)

const (
	// maxSummary is the longest [Result.Summary], in bytes: short enough for a condition's message.
	maxSummary = 1024
	// summaryReasons and summaryNames limit the lists in a summary; the rest is counted.
	summaryReasons, summaryNames = 5, 3
)

// Explain describes the result for a person: the outcome, a table of the stages and a table of the candidates.
func (r Result[C]) Explain() string {
	var out strings.Builder
	out.WriteString(r.Summary())
	out.WriteByte('\n')
	if len(r.Stages) > 0 {
		out.WriteByte('\n')
		table(&out, len(r.Stages), "STAGE\tBEFORE\tAFTER", func(i int) string {
			s := r.Stages[i]
			return fmt.Sprintf("%s\t%d\t%d", cell(s.Name), s.Before, s.After)
		})
	}
	if len(r.Evaluations) > 0 {
		out.WriteByte('\n')
		table(&out, len(r.Evaluations), "CANDIDATE\tOUTCOME\tRANK\tREASON\tDECIDED BY", func(i int) string {
			e := r.Evaluations[i]
			rank := "-"
			if e.Rank > 0 {
				rank = strconv.Itoa(e.Rank)
			}
			return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", e.label(), e.Outcome, rank, cell(e.Reason), cell(cmp.Or(e.Stage, e.DecidedBy)))
		})
	}
	return out.String()
}

// table writes a header and rows in aligned columns.
func table(out *strings.Builder, rows int, header string, row func(int) string) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, header) // a strings.Builder returns no error
	for i := range rows {
		_, _ = fmt.Fprintln(w, row(i))
	}
	_ = w.Flush()
}

// cell escapes a value for one cell of a table.
func cell(s string) string {
	if s == "" {
		return "-"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}

// label returns the candidate's name for texts.
func (e *Evaluation[C]) label() string {
	if e.Name == "" {
		return fmt.Sprintf("#%d", e.Index)
	}
	return cell(e.Name)
}

// Summary describes the result in one line of at most 1024 bytes, for a message: the chosen candidate and the reason, the equal
// candidates, or the rejections by reason. Equal results have equal summaries.
func (r Result[C]) Summary() string {
	total := len(r.Evaluations)
	switch {
	case total == 0:
		return "no candidates"
	case r.Chosen != nil:
		best := &r.Evaluations[0]
		if best.DecidedBy == "" {
			return text.Cut(fmt.Sprintf("%s is chosen, the only one left of %d", best.label(), total), maxSummary)
		}
		return text.Cut(fmt.Sprintf("%s is chosen of %d, decided by %s", best.label(), total, best.DecidedBy), maxSummary)
	case r.Ambiguous():
		return text.Cut(fmt.Sprintf("%d of %d are equal: %s", len(r.Equals), total, r.names(func(e *Evaluation[C]) bool { return e.Outcome == Equal })), maxSummary)
	default:
		return text.Cut(fmt.Sprintf("none of %d passes: %s", total, r.reasons()), maxSummary)
	}
}

// reasons counts the rejected candidates by reason, the most frequent first.
func (r Result[C]) reasons() string {
	type count struct {
		reason string
		number int
	}
	var counts []count
	at := map[string]int{}
	for i := range r.Evaluations {
		reason := r.Evaluations[i].Reason
		if _, ok := at[reason]; !ok {
			at[reason] = len(counts)
			counts = append(counts, count{reason: reason})
		}
		counts[at[reason]].number++
	}
	slices.SortFunc(counts, func(a, b count) int {
		return cmp.Or(b.number-a.number, strings.Compare(a.reason, b.reason))
	})
	texts := make([]string, 0, summaryReasons+1)
	for i, c := range counts {
		if i == summaryReasons {
			texts = append(texts, fmt.Sprintf("and %d more reasons", len(counts)-i))
			break
		}
		names := r.names(func(e *Evaluation[C]) bool { return e.Reason == c.reason })
		texts = append(texts, fmt.Sprintf("%d %s (%s)", c.number, cell(c.reason), names))
	}
	return strings.Join(texts, ", ")
}

// names lists the first matching candidates and counts the others.
func (r Result[C]) names(match func(*Evaluation[C]) bool) string {
	var listed []string
	more := 0
	for i := range r.Evaluations {
		switch e := &r.Evaluations[i]; {
		case !match(e):
		case len(listed) < summaryNames:
			listed = append(listed, e.label())
		default:
			more++
		}
	}
	if more > 0 {
		listed = append(listed, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(listed, ", ")
}
