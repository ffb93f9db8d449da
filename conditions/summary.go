package conditions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Input is a condition that [Summarize] or [Tally.Add] counts.
type Input struct {
	// Type is the type of the condition.
	Type string
	// Negative reports that True is the bad status, as for Degraded, Stalled or PruneBlocked. A negative condition that does not exist is
	// good. By default True is good, and a condition that does not exist is unknown.
	Negative bool
}

// outcome is the quality of a condition: good, unknown or bad.
type outcome int

const (
	good outcome = iota
	unknown
	bad
)

// reasonMissing is the reason of a positive condition that does not exist.
const reasonMissing = "ConditionMissing"

// evaluate returns the outcome of the condition, with its reason and message.
func (i Input) evaluate(list []metav1.Condition) (v outcome, reason, message string) {
	c := meta.FindStatusCondition(list, i.Type)
	switch {
	case c == nil && i.Negative:
		return good, "", ""
	case c == nil:
		return unknown, reasonMissing, "condition " + i.Type + " does not exist"
	case c.Status == metav1.ConditionUnknown:
		v = unknown
	case (c.Status == metav1.ConditionTrue) == i.Negative:
		v = bad
	}
	return v, cmp.Or(c.Reason, unspecified), c.Message
}

// Summarize returns a condition that summarizes others of one object, for [Manager.Set]. It is True if all inputs are good, False if one
// is bad, and Unknown otherwise. The reason is that of the first input with this status in the given order, "Ready" for True. The message
// lists the type and message of each such input; see [Bound] for its length.
func Summarize(list []metav1.Condition, inputs ...Input) (status metav1.ConditionStatus, reason, message string) {
	worst, messages := good, []string(nil)
	for _, input := range inputs {
		v, why, text := input.evaluate(list)
		if v > worst {
			worst, reason, messages = v, why, nil
		}
		if v == worst && v != good {
			messages = append(messages, input.Type+": "+cmp.Or(text, why))
		}
	}
	switch worst {
	case good:
		return metav1.ConditionTrue, Ready, ""
	case unknown:
		status = metav1.ConditionUnknown
	case bad:
		status = metav1.ConditionFalse
	}
	return status, reason, Bound(strings.Join(messages, "; "))
}

// Limits of the message of a [Tally].
const (
	tallyReasons = 3
	tallyNames   = 3
)

// Tally summarizes one condition of many objects: the number of bad and unknown ones, and the most frequent reasons. Its memory depends
// on the number of reasons, not on the number of objects. The zero value is an empty tally. It is not safe for concurrent use.
type Tally struct {
	objects int
	counts  [bad + 1]int
	reasons map[tallied]*reasonCount
}

// tallied counts the objects with one reason and outcome.
type tallied struct {
	outcome outcome
	reason  string
}

// reasonCount holds the number of objects and the names of the first few.
type reasonCount struct {
	count int
	first []string
}

// Add counts the condition of an object. The name appears in the message.
func (t *Tally) Add(name string, list []metav1.Condition, input Input) {
	v, reason, _ := input.evaluate(list)
	t.objects++
	t.counts[v]++
	if v == good {
		return
	}
	if t.reasons == nil {
		t.reasons = map[tallied]*reasonCount{}
	}
	key := tallied{v, reason}
	n := t.reasons[key]
	if n == nil {
		n = &reasonCount{}
		t.reasons[key] = n
	}
	n.count++
	at, _ := slices.BinarySearch(n.first, name)
	if at < tallyNames {
		n.first = slices.Insert(n.first, at, name)
		n.first = n.first[:min(len(n.first), tallyNames)]
	}
}

// Status returns the condition for [Manager.Set]: False if one object is bad, Unknown if one is unknown, else True, also without objects.
// The reason is the most frequent one, "Ready" for True. The message has the counts, the three most frequent reasons and three objects of
// each, for example "4 of 9 are not ready: 3 ImagePullBackOff (a, b, c), 1 Pending (d)". It does not depend on the order of the calls of
// Add; see [Bound] for its length.
func (t *Tally) Status() (status metav1.ConditionStatus, reason, message string) {
	if t.counts[bad]+t.counts[unknown] == 0 {
		return metav1.ConditionTrue, Ready, fmt.Sprintf("all %d are ready", t.objects)
	}
	keys := make([]tallied, 0, len(t.reasons))
	for key := range t.reasons {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b tallied) int {
		return cmp.Or(cmp.Compare(b.outcome, a.outcome), cmp.Compare(t.reasons[b].count, t.reasons[a].count), cmp.Compare(a.reason, b.reason))
	})
	parts := make([]string, 0, tallyReasons+1)
	for i, key := range keys {
		if i == tallyReasons {
			parts = append(parts, fmt.Sprintf("%d more reasons", len(keys)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%d %s (%s)", t.reasons[key].count, key.reason, t.reasons[key].list()))
	}
	status = metav1.ConditionUnknown
	if t.counts[bad] > 0 {
		status = metav1.ConditionFalse
	}
	return status, keys[0].reason, Bound(fmt.Sprintf("%d of %d are not ready: %s", t.counts[bad]+t.counts[unknown], t.objects, strings.Join(parts, ", ")))
}

// list returns the sampled names and the number of omitted ones.
func (n *reasonCount) list() string {
	text := strings.Join(n.first, ", ")
	if more := n.count - len(n.first); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
