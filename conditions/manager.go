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

// Manager collects the conditions of one pass on top of those that are stored. Make one with [NewManager]; the zero value has no
// time and no generation and is not useful. It is not safe for concurrent use.
type Manager struct {
	generation int64
	now        metav1.Time
	entries    []entry // in the order of Conditions
}

// entry is one condition: what is stored, what this pass made of it and how a transition is announced.
type entry struct {
	stored  metav1.Condition
	current metav1.Condition
	options options

	existed bool // stored is meaningful
	set     bool // this pass set it
	deleted bool
}

// spare is the room kept for condition types that are not stored yet.
const spare = 4

// NewManager starts a pass from the stored conditions, which are copied. The generation is the owner's metadata.generation that
// the pass looks at; now is the time of the pass, kept at whole seconds because that is what the API stores. Of
// conditions stored twice under one type (possible only where the list is no map list) the first counts.
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

// Status is True when what the condition says holds, and False when it does not, for [Manager.Set].
func Status(holds bool) metav1.ConditionStatus {
	if holds {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// Set gives the condition a status, a reason and a message for this pass; the last Set of a type wins. A transition is announced
// [AsInfo] unless an option says otherwise. A reason that the API would refuse is repaired (characters that are not allowed are left out,
// "Unspecified" stands where nothing remains), a message above the API's limit of 32768 bytes is cut.
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

// Keep confirms the stored condition for this pass as it is, so that it stays owned; only observedGeneration moves. It
// reports false, and does nothing, when no such condition is stored.
func (m *Manager) Keep(conditionType string) bool {
	e := m.find(conditionType)
	if e == nil || !e.existed {
		return false
	}
	m.Set(conditionType, e.stored.Status, e.stored.Reason, e.stored.Message)
	return true
}

// Get returns the condition as it stands now: set in this pass, else stored. It reports false when there is none.
func (m *Manager) Get(conditionType string) (metav1.Condition, bool) {
	if e := m.find(conditionType); e != nil && !e.deleted {
		return e.current, true
	}
	return metav1.Condition{}, false
}

// Stored returns the condition as it was before the pass. It reports false when there was none.
func (m *Manager) Stored(conditionType string) (metav1.Condition, bool) {
	if e := m.find(conditionType); e != nil && e.existed {
		return e.stored, true
	}
	return metav1.Condition{}, false
}

// Announcement returns how the condition that was set in this pass is announced, as an option for another [Manager.Set]. It reports false
// when this pass did not set the condition.
func (m *Manager) Announcement(conditionType string) (Option, bool) {
	if e := m.find(conditionType); e != nil && e.set {
		return e.options, true
	}
	return nil, false
}

// Delete removes the condition; a type that does not exist is fine.
func (m *Manager) Delete(conditionType string) {
	if e := m.find(conditionType); e != nil {
		e.deleted, e.set = true, false
	}
}

// RemoveStale removes the stored conditions that this writer owns and did not set in this pass: those of components that are
// gone. The function reports which types are its own; others are never touched. A nil function removes
// nothing.
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

// Conditions returns a new list with what is to be stored: what was set in this pass and what others had stored. Ready comes
// first, then by type.
func (m *Manager) Conditions() []metav1.Condition {
	list := make([]metav1.Condition, 0, len(m.entries))
	for i := range m.entries {
		if !m.entries[i].deleted {
			list = append(list, m.entries[i].current)
		}
	}
	return list
}

// Managed returns the types that were set in this pass, in the order of [Manager.Conditions]: what this writer owns.
func (m *Manager) Managed() []string {
	types := make([]string, 0, len(m.entries))
	for i := range m.entries {
		if m.entries[i].set {
			types = append(types, m.entries[i].current.Type)
		}
	}
	return types
}

// EachManaged calls yield for every condition set in this pass, in the order of [Manager.Conditions], until it returns false. It
// allocates nothing and can be ranged over.
func (m *Manager) EachManaged(yield func(metav1.Condition) bool) {
	for i := range m.entries {
		if m.entries[i].set && !yield(m.entries[i].current) {
			return
		}
	}
}

// Now returns the time of the pass, at whole seconds.
func (m *Manager) Now() time.Time { return m.now.Time }

// Generation returns the generation that the pass looks at.
func (m *Manager) Generation() int64 { return m.generation }

// entry finds or makes the entry of a type.
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

// insert puts a new entry in its place: Ready first, then by type.
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
