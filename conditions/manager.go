package conditions

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/internal/text"
)

// Ready is the type of the summary condition. It comes first in [Manager.Conditions].
const Ready = "Ready"

// Manager collects the conditions of one reconciliation on top of the stored ones. Create it with [NewManager]; the zero value has no
// time and no generation. It is not safe for concurrent use.
type Manager struct {
	generation int64
	now        metav1.Time
	entries    []entry // in the order of Conditions
}

// entry is one condition: its stored value, its current value and the announcement of its transition.
type entry struct {
	stored  metav1.Condition
	current metav1.Condition
	options options

	existed bool // stored is meaningful
	set     bool // this pass set it
	deleted bool
}

// spare is the capacity reserved for condition types that are not stored yet.
const spare = 4

// NewManager returns a manager that starts from a copy of the stored conditions. generation is the owner's metadata.generation. now is
// the time of the reconciliation, truncated to seconds as the API stores it. If a type is stored twice (possible only where the list is
// not a map list), the first condition counts.
func NewManager(existing []metav1.Condition, generation int64, now time.Time) *Manager {
	m := &Manager{
		generation: generation,
		now:        metav1.NewTime(now.Truncate(time.Second)),
		entries:    make([]entry, 0, len(existing)+spare),
	}
	for i := range existing {
		if m.find(existing[i].Type) == nil {
			m.insert(entry{stored: existing[i], current: existing[i], existed: true})
		}
	}
	return m
}

// Status returns True if holds is true, else False. Use it with [Manager.Set].
func Status(holds bool) metav1.ConditionStatus {
	if holds {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// Set sets the status, reason and message of a condition. The last Set of a type wins. A transition is announced [AsInfo] unless an
// option overrides it. Invalid characters are removed from the reason; an empty reason becomes "Unspecified". A message above the API's
// limit of 32768 bytes is truncated.
func (m *Manager) Set(
	conditionType string, status metav1.ConditionStatus, reason, message string, opts ...Option,
) {
	e := m.entry(conditionType)
	e.options = options{}
	for _, opt := range opts {
		if opt != nil {
			opt.applyTo(&e.options)
		}
	}
	e.set, e.deleted = true, false
	e.current.Status = status
	e.current.Reason = acceptedReason(reason)
	e.current.Message = text.Cut(message, maxStored)
	e.current.ObservedGeneration = m.generation
	e.current.LastTransitionTime = m.now
	if e.existed && e.stored.Status == status && !e.stored.LastTransitionTime.IsZero() {
		e.current.LastTransitionTime = e.stored.LastTransitionTime
	}
}

// MarkTrue sets the condition to True, see [Manager.Set].
func (m *Manager) MarkTrue(conditionType, reason, message string, opts ...Option) {
	m.Set(conditionType, metav1.ConditionTrue, reason, message, opts...)
}

// MarkFalse sets the condition to False, see [Manager.Set].
func (m *Manager) MarkFalse(conditionType, reason, message string, opts ...Option) {
	m.Set(conditionType, metav1.ConditionFalse, reason, message, opts...)
}

// MarkUnknown sets the condition to Unknown, see [Manager.Set].
func (m *Manager) MarkUnknown(conditionType, reason, message string, opts ...Option) {
	m.Set(conditionType, metav1.ConditionUnknown, reason, message, opts...)
}

// Renew sets the lastTransitionTime of a condition that was set in this reconciliation to the time of the reconciliation, although its
// status may not have changed. Use it for a condition whose reason or message is a step of its own, such as kstatus' Reconciling.
func (m *Manager) Renew(conditionType string) {
	if e := m.find(conditionType); e != nil && e.set {
		e.current.LastTransitionTime = m.now
	}
}

// Keep confirms the stored condition unchanged, so that this writer still owns it; only observedGeneration moves. It reports whether such
// a condition is stored, and does nothing if not.
func (m *Manager) Keep(conditionType string) bool {
	e := m.find(conditionType)
	if e == nil || !e.existed {
		return false
	}
	m.Set(conditionType, e.stored.Status, e.stored.Reason, e.stored.Message)
	return true
}

// Get returns the current condition: the one set in this reconciliation, else the stored one. It reports whether the condition exists.
func (m *Manager) Get(conditionType string) (metav1.Condition, bool) {
	if e := m.find(conditionType); e != nil && !e.deleted {
		return e.current, true
	}
	return metav1.Condition{}, false
}

// Stored returns the stored condition. It reports whether the condition exists.
func (m *Manager) Stored(conditionType string) (metav1.Condition, bool) {
	if e := m.find(conditionType); e != nil && e.existed {
		return e.stored, true
	}
	return metav1.Condition{}, false
}

// Announcement returns the announcement of a condition that was set in this reconciliation, as an option for another [Manager.Set]. It
// reports whether the condition was set.
func (m *Manager) Announcement(conditionType string) (Option, bool) {
	if e := m.find(conditionType); e != nil && e.set {
		return e.options, true
	}
	return nil, false
}

// Delete removes the condition, if it exists.
func (m *Manager) Delete(conditionType string) {
	if e := m.find(conditionType); e != nil {
		e.deleted, e.set = true, false
	}
}

// RemoveStale removes the stored conditions that this writer owns and did not set in this reconciliation. own reports which types the
// writer owns; other types are not touched. A nil function removes nothing.
func (m *Manager) RemoveStale(own func(conditionType string) bool) {
	if own == nil {
		return
	}
	for i := range m.entries {
		if e := &m.entries[i]; e.existed && !e.set && own(e.current.Type) {
			e.deleted = true
		}
	}
}

// Conditions returns a new list of the conditions to store: those set in this reconciliation and the stored ones of other writers. Ready
// comes first, then by type.
func (m *Manager) Conditions() []metav1.Condition {
	list := make([]metav1.Condition, 0, len(m.entries))
	for i := range m.entries {
		if !m.entries[i].deleted {
			list = append(list, m.entries[i].current)
		}
	}
	return list
}

// Managed returns the types that were set in this reconciliation, in the order of [Manager.Conditions]. This writer owns them.
func (m *Manager) Managed() []string {
	types := make([]string, 0, len(m.entries))
	for i := range m.entries {
		if m.entries[i].set {
			types = append(types, m.entries[i].current.Type)
		}
	}
	return types
}

// EachManaged calls yield for every condition set in this reconciliation, in the order of [Manager.Conditions], until it returns false.
// It does not allocate and can be used as a range function.
func (m *Manager) EachManaged(yield func(metav1.Condition) bool) {
	for i := range m.entries {
		if m.entries[i].set && !yield(m.entries[i].current) {
			return
		}
	}
}

// Now returns the time of the reconciliation, truncated to seconds.
func (m *Manager) Now() time.Time { return m.now.Time }

// Generation returns the reconciled generation.
func (m *Manager) Generation() int64 { return m.generation }

// entry finds or creates the entry of a type.
func (m *Manager) entry(conditionType string) *entry {
	if e := m.find(conditionType); e != nil {
		return e
	}
	// The clone keeps the argument from escaping: callers compose types ("Cache" + "Ready") without an allocation when
	// the condition is already there.
	return m.insert(entry{current: metav1.Condition{Type: strings.Clone(conditionType)}})
}

// find returns the entry of a type, or nil.
func (m *Manager) find(conditionType string) *entry {
	for i := range m.entries {
		if m.entries[i].current.Type == conditionType {
			return &m.entries[i]
		}
	}
	return nil
}

// insert inserts a new entry in order: Ready first, then by type.
func (m *Manager) insert(e entry) *entry {
	at := 0
	for at < len(m.entries) && before(m.entries[at].current.Type, e.current.Type) {
		at++
	}
	m.entries = slices.Insert(m.entries, at, e)
	return &m.entries[at]
}

// before reports whether a condition type comes before another: Ready first, then by name.
func before(a, b string) bool { return b != Ready && (a == Ready || a < b) }
