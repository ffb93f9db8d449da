package conditions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reasons of a [Summary].
const (
	// AllGood is the reason when nothing is wrong.
	AllGood = "AllGood"
	// NotReported is the reason that stands for a condition which does not exist.
	NotReported = "NotReported"
)

// Summary is several conditions in one: what [Manager.Set] takes.
type Summary struct {
	// Status is False when something is wrong, else Unknown when something is not known, else True.
	Status metav1.ConditionStatus
	// Reason is the most frequent reason among those of the worst kind, the alphabetically first of equals; [AllGood] when
	// nothing is wrong.
	Reason string
	// Message names what is wrong, worst first, in at most [MaxMessage] bytes.
	Message string
}

// SummaryOption changes what [Summarize] and [Aggregate] look at.
type SummaryOption interface {
	// ApplyToSummary writes the option into the options of one call.
	ApplyToSummary(options *SummaryOptions)
}

// SummaryOptions is what the [SummaryOption] values add up to.
type SummaryOptions struct {
	// Types are the conditions that count; one that does not exist counts as Unknown. Unset, all that exist count, except [Ready],
	// which is the summary itself. [Aggregate] does not use them.
	Types []string
	// Negative are the condition types for which True is the trouble and False, or none, is good (Stalled, MemoryPressure).
	Negative []string
}

// Types picks the conditions that count. Several options add up.
type Types []string

// ApplyToSummary implements [SummaryOption].
func (t Types) ApplyToSummary(options *SummaryOptions) { options.Types = append(options.Types, t...) }

// NegativePolarity names the types for which True is the trouble. Several options add up.
type NegativePolarity []string

// ApplyToSummary implements [SummaryOption].
func (n NegativePolarity) ApplyToSummary(options *SummaryOptions) {
	options.Negative = append(options.Negative, n...)
}

// Options of both forms.
var (
	_ SummaryOption = Types(nil)
	_ SummaryOption = NegativePolarity(nil)
)

// Source is one condition of one of many objects, for [Aggregate].
type Source struct {
	// Name says whose condition it is.
	Name string
	// Condition is the condition; one without a status counts as Unknown with the reason [NotReported].
	Condition metav1.Condition
}

// issue is a condition that is not good.
type issue struct {
	name, reason, message string
	status                metav1.ConditionStatus // False: wrong, Unknown: not known
}

// Summarize folds the conditions of one object into one: "CacheReady: 1 of 2 volumes bound; RouteReady: no gateway". The order of
// the list does not matter.
func Summarize(list []metav1.Condition, opts ...SummaryOption) Summary {
	var o SummaryOptions
	for _, opt := range opts {
		opt.ApplyToSummary(&o)
	}
	var issues []issue
	total := 0
	for _, c := range selected(list, o) {
		total++
		if i, bad := judge(c.Type, c, o); bad {
			issues = append(issues, i)
		}
	}
	if len(issues) == 0 {
		return good(total, "conditions")
	}
	sortIssues(issues)
	pieces := make([]string, 0, len(issues))
	for _, i := range issues {
		text := i.message
		if text == "" {
			text = i.reason
		}
		pieces = append(pieces, i.name+": "+text)
	}
	return Summary{Status: issues[0].status, Reason: topReason(issues), Message: enumerate("", "; ", pieces)}
}

// Aggregate folds one condition of many objects into one, by reason: "3 of 10 are not ready: ImagePullBackOff (2: a, c), Evicted
// (1: b)". The order of the list does not matter.
func Aggregate(list []Source, opts ...SummaryOption) Summary {
	var o SummaryOptions
	for _, opt := range opts {
		opt.ApplyToSummary(&o)
	}
	var issues []issue
	for _, s := range list {
		if i, bad := judge(s.Name, s.Condition, o); bad {
			issues = append(issues, i)
		}
	}
	if len(issues) == 0 {
		return good(len(list), "objects")
	}
	sortIssues(issues)
	head := fmt.Sprintf("%d of %d are not ready: ", len(issues), len(list))
	return Summary{Status: issues[0].status, Reason: topReason(issues), Message: enumerate(head, ", ", groups(issues))}
}

// selected returns the conditions that count, those that do not exist without a status.
func selected(list []metav1.Condition, o SummaryOptions) []metav1.Condition {
	var chosen []metav1.Condition
	if len(o.Types) == 0 {
		for _, c := range list {
			if c.Type != Ready {
				chosen = append(chosen, c)
			}
		}
		return chosen
	}
	for _, t := range o.Types {
		c, found := List(list).Get(t)
		if !found {
			c = metav1.Condition{Type: t}
		}
		chosen = append(chosen, c)
	}
	return chosen
}

// judge reports whether a condition is an issue.
func judge(name string, c metav1.Condition, o SummaryOptions) (issue, bool) {
	negative := slices.Contains(o.Negative, c.Type)
	i := issue{name: name, reason: c.Reason, message: c.Message, status: metav1.ConditionFalse}
	switch c.Status {
	case metav1.ConditionTrue:
		return i, negative
	case metav1.ConditionFalse:
		return i, !negative
	case metav1.ConditionUnknown:
	default:
		if negative && c.Status == "" {
			return i, false
		}
	}
	i.status = metav1.ConditionUnknown
	if i.reason == "" {
		i.reason = NotReported
	}
	return i, true
}

// sortIssues puts what is wrong before what is not known, then by name, reason and message.
func sortIssues(issues []issue) {
	slices.SortFunc(issues, func(a, b issue) int {
		return cmp.Or(
			strings.Compare(string(a.status), string(b.status)), // False < Unknown
			strings.Compare(a.name, b.name),
			strings.Compare(a.reason, b.reason),
			strings.Compare(a.message, b.message),
		)
	})
}

func good(total int, what string) Summary {
	return Summary{Status: metav1.ConditionTrue, Reason: AllGood, Message: fmt.Sprintf("all %d %s are good", total, what)}
}
