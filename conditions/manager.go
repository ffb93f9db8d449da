package conditions

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// entry is one condition: what is stored, what this pass made of it and how a change is told.
type entry struct {
	stored  metav1.Condition
	current metav1.Condition
	options Options

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
		at, found := m.find(existing[i].Type)
		if found {
			continue
		}
		m.entries = slices.Insert(m.entries, at, entry{stored: existing[i], current: existing[i], existed: true})
	}
	return m
}

// Set gives the condition a status, a reason and a message for this pass; the last Set of a type wins. Unset options mean an
// ordinary announcement ([AsInfo]). A reason that the API would refuse is repaired ([Reason]), a message above the API's
// limit of 32768 bytes is cut.
func (m *Manager) Set(
	conditionType string, status metav1.ConditionStatus, reason, message string, opts ...Option,
) {
	e := m.entry(conditionType)
	e.options = Options{}
	for _, opt := range opts {
		if opt != nil {
			opt.ApplyToCondition(&e.options)
		}
	}
	e.set, e.deleted = true, false
	e.current.Status = status
	e.current.Reason = Reason(reason)
	e.current.Message = cut(message, maxStored)
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
	at, found := m.find(conditionType)
	if !found || !m.entries[at].existed {
		return false
	}
	stored := m.entries[at].stored
	m.Set(conditionType, stored.Status, stored.Reason, stored.Message)
	return true
}

// Get returns the condition as it stands now: set in this pass, else stored. It reports false when there is none.
func (m *Manager) Get(conditionType string) (metav1.Condition, bool) {
	if at, found := m.find(conditionType); found && !m.entries[at].deleted {
		return m.entries[at].current, true
	}
	return metav1.Condition{}, false
}

// Stored returns the condition as it was before the pass. It reports false when there was none.
func (m *Manager) Stored(conditionType string) (metav1.Condition, bool) {
	if at, found := m.find(conditionType); found && m.entries[at].existed {
		return m.entries[at].stored, true
	}
	return metav1.Condition{}, false
}

// Options returns how the condition that was set in this pass is announced. It reports false when this pass did not set it.
func (m *Manager) Options(conditionType string) (Options, bool) {
	if at, found := m.find(conditionType); found && m.entries[at].set {
		return m.entries[at].options, true
	}
	return Options{}, false
}

// Delete removes the condition; a type that does not exist is fine.
func (m *Manager) Delete(conditionType string) {
	if at, found := m.find(conditionType); found {
		m.entries[at].deleted, m.entries[at].set = true, false
	}
}

// RemoveStale removes the stored conditions that this writer owns and did not set in this pass: those of components that are
// gone. The function says which types are its own; a type that it does not own is never touched. A nil function removes
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
	at, found := m.find(conditionType)
	if !found {
		// The clone keeps the argument from escaping: callers compose types ("Cache" + "Ready") without an allocation when
		// the condition is already there.
		m.entries = slices.Insert(m.entries, at, entry{current: metav1.Condition{Type: strings.Clone(conditionType)}})
	}
	return &m.entries[at]
}

// find returns where the type is, or belongs.
func (m *Manager) find(conditionType string) (int, bool) {
	low, high := 0, len(m.entries)
	for low < high {
		mid := int(uint(low+high) >> 1)
		if compareTypes(m.entries[mid].current.Type, conditionType) < 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < len(m.entries) && m.entries[low].current.Type == conditionType
}

// compareTypes orders condition types: Ready first, then by name.
func compareTypes(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == Ready:
		return -1
	case b == Ready:
		return 1
	case a < b: // not strings.Compare, for which the arguments escape
		return -1
	}
	return 1
}
