package conditions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	shownReasons = 5 // of an aggregate
	shownNames   = 3 // of a reason
)

// group is the issues of one status and reason.
type group struct {
	reason string
	status metav1.ConditionStatus
	names  []string
}

// byReason collects sorted issues by status and reason, the worst and most frequent first.
func byReason(issues []issue) []group {
	var list []group
	for _, i := range issues {
		at := slices.IndexFunc(list, func(g group) bool { return g.reason == i.reason && g.status == i.status })
		if at < 0 {
			at = len(list)
			list = append(list, group{reason: i.reason, status: i.status})
		}
		list[at].names = append(list[at].names, i.name)
	}
	slices.SortFunc(list, func(a, b group) int {
		return cmp.Or(
			strings.Compare(string(a.status), string(b.status)),
			cmp.Compare(len(b.names), len(a.names)),
			strings.Compare(a.reason, b.reason),
		)
	})
	return list
}

// topReason returns the most frequent reason of the worst status, repaired for the API.
func topReason(issues []issue) string { return Reason(byReason(issues)[0].reason) }

// groups words the reasons with their counts: "ImagePullBackOff (12: a, b, c and 9 more)".
func groups(issues []issue) []string {
	list := byReason(issues)
	pieces := make([]string, 0, min(len(list), shownReasons+1))
	rest := 0
	for i, g := range list {
		if i >= shownReasons {
			rest += len(g.names)
			continue
		}
		names := g.names
		more := ""
		if len(names) > shownNames {
			more = fmt.Sprintf(" and %d more", len(names)-shownNames)
			names = names[:shownNames]
		}
		reason := g.reason
		if reason == "" {
			reason = Unspecified
		}
		pieces = append(pieces, fmt.Sprintf("%s (%d: %s%s)", reason, len(g.names), strings.Join(names, ", "), more))
	}
	if rest > 0 {
		pieces = append(pieces, fmt.Sprintf("other reasons (%d)", rest))
	}
	return pieces
}

// enumerate joins the pieces within [MaxMessage] bytes. A piece that is too long on its own is cut; what does not fit is
// counted.
func enumerate(head, separator string, pieces []string) string {
	const reserve = len("; and 2147483647 more")
	var b strings.Builder
	b.WriteString(cut(head, MaxMessage/2))
	for i, piece := range pieces {
		last := i == len(pieces)-1
		room := MaxMessage - b.Len()
		if !last {
			room -= reserve
		}
		if i > 0 {
			room -= len(separator)
			if len(piece) > room {
				fmt.Fprintf(&b, "%sand %d more", separator, len(pieces)-i)
				break
			}
			b.WriteString(separator)
		}
		b.WriteString(cut(piece, max(room, len(ellipsis)+1)))
	}
	return Bound(b.String())
}
