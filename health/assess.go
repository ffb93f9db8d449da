package health

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/conditions"
)

// setComponent sets `<Name>Ready`, or keeps the stored condition during the grace period.
func (a *Assessor) setComponent(p *part) {
	p.kept = false
	if p.name == "" {
		return
	}
	if a.graceful(p) {
		p.kept = a.manager.Keep(p.name + conditions.Ready)
		if p.kept {
			return
		}
	}
	announce := conditions.AsInfo
	if p.state.Failing() {
		announce = conditions.AsError
	}
	a.manager.Set(p.name+conditions.Ready, conditions.Status(p.state == Ready), p.reason, p.message, announce)
}

// graceful reports whether the stored condition of the part replaces its failure: all of its errors are Infrastructure, the failure began
// less than the grace period ago, and the stored condition is of the same generation.
func (a *Assessor) graceful(p *part) bool {
	if p.immediate || len(p.errors) == 0 || a.graceLeft() <= 0 {
		return false
	}
	for _, e := range p.errors {
		if e.Category != Infrastructure {
			return false
		}
	}
	stored, found := a.manager.Stored(p.name + conditions.Ready)
	return found && stored.ObservedGeneration == a.manager.Generation()
}

// graceLeft returns the remaining grace period. It starts now if no dependency was unreachable before.
func (a *Assessor) graceLeft() time.Duration { return a.since.Add(a.options.Grace).Sub(a.options.Now) }

// setCategories sets the conditions of the categories. A condition appears with the first failure of its category and remains.
func (a *Assessor) setCategories() {
	a.settled = true
	m := a.manager
	switch {
	case a.seen.unreachable.seen:
		m.MarkFalse(DependenciesReachable, reasonInfrastructure, a.unreachable().message(textUnreachable), conditions.AsError)
	case a.known(DependenciesReachable):
		m.MarkTrue(DependenciesReachable, reasonReachable, textReachable)
	}
	switch {
	case a.seen.auth.seen:
		m.MarkFalse(AuthValid, reasonAuth, a.seen.auth.message(textAuth), conditions.AsError)
	case a.known(AuthValid):
		m.MarkTrue(AuthValid, reasonAuthValid, textAuthValid)
	}
	switch {
	case a.seen.invalid.seen:
		m.MarkFalse(ConfigValid, a.seen.invalid.conditionReason(reasonInvalidSpec), a.seen.invalid.message(textInvalidSpec), conditions.AsError)
	case a.seen.missing.seen:
		m.MarkFalse(ConfigValid, reasonReferenceNotFound, a.seen.missing.message(textReference), conditions.AsError)
	case a.known(ConfigValid):
		m.MarkTrue(ConfigValid, reasonConfigValid, textConfigValid)
	}
}

// unreachable returns the note about unreachable dependencies. During the grace period no component's condition describes the failure.
func (a *Assessor) unreachable() *note {
	n := a.seen.unreachable
	for i := range a.parts {
		if p := &a.parts[i]; p.kept && n.detail == "" {
			n.detail = p.message
		}
	}
	return &n
}

func (a *Assessor) known(conditionType string) bool {
	_, found := a.manager.Stored(conditionType)
	return found
}

// evaluation is the aggregate of the components.
type evaluation struct {
	worst   State
	named   *part // the first failing component, preferably one without a name
	reason  string
	message string
	waiting string   // message of a progressing part without a name; only the summary shows it
	waits   []string // the components with names that are neither ready nor failing, and their messages
}

// Summarize sets the summary condition Ready and returns the assessment. It covers the observed components and every other condition set
// in this reconciliation whose type ends in Ready, so set conditions of a product before. A product's condition for a component replaces
// the component's own, unless the component has errors.
func (a *Assessor) Summarize() Assessment {
	if !a.settled {
		a.setCategories()
	}
	v := a.evaluate()
	out := Assessment{State: v.worst, Terminal: a.terminal}
	m := a.manager
	switch {
	case a.seen.program.seen:
		out.State = Failed
		m.MarkFalse(conditions.Ready, reasonProgram, a.seen.program.message(textProgram), conditions.AsError)
	case a.seen.auth.seen:
		out.State = Failed
		m.MarkFalse(conditions.Ready, reasonAuth, a.seen.auth.message(textAuth), conditions.AsError)
	case a.seen.invalid.seen:
		out.State = Failed
		m.MarkFalse(conditions.Ready, a.seen.invalid.conditionReason(reasonInvalidSpec), a.seen.invalid.message(textInvalidSpec), conditions.AsError)
	case a.seen.missing.seen:
		out.State = Failed
		m.MarkFalse(conditions.Ready, reasonReferenceNotFound, a.seen.missing.message(textReference), conditions.AsError)
	case v.worst == Ready:
		m.MarkTrue(conditions.Ready, reasonReady, textReady)
	case v.named != nil:
		m.MarkFalse(conditions.Ready, v.reason, v.message, conditions.AsError)
	case a.dependencyDown():
		out.State = worst(v.worst, Degraded)
		m.MarkFalse(conditions.Ready, reasonInfrastructure, textInfrastructure, conditions.AsError)
	default:
		m.MarkFalse(conditions.Ready, reasonProgressing, cmp.Or(v.waiting, waitingFor(v.waits)))
	}
	if len(a.retry) > 0 {
		out.Retry = &retryError{Errors: a.retry}
	}
	out.RequeueAfter = a.requeueAfter()
	return out
}

// evaluate aggregates the components in their order, then the other conditions.
func (a *Assessor) evaluate() evaluation {
	v := evaluation{worst: Ready}
	for i := range a.parts {
		p := &a.parts[i]
		state, reason, message := a.contribution(p)
		v.worst = worst(v.worst, state)
		// A failure without a name has no condition of its own; only the summary shows it.
		if state.Failing() && (v.named == nil || p.name == "" && v.named.name != "") {
			v.named, v.reason, v.message = p, reason, sentence(p.name, message)
		}
		switch {
		case p.name == "" && state == Progressing:
			v.waiting = cmp.Or(v.waiting, message)
		case p.name != "" && state != Ready && !state.Failing():
			v.waits = append(v.waits, p.label(message))
		}
	}
	for c := range a.manager.EachManaged {
		if c.Status != metav1.ConditionTrue && a.foreign(c.Type) {
			v.worst = worst(v.worst, Progressing)
			v.waits = append(v.waits, labelled(strings.TrimSuffix(c.Type, conditions.Ready), c.Message))
		}
	}
	return v
}

// label returns the component, its object and the message of its condition.
func (p *part) label(message string) string {
	if text, found := strings.CutPrefix(message, p.object+": "); found && p.object != "" {
		return labelled(p.name+"/"+p.object, text)
	}
	return labelled(p.name, message)
}

func labelled(name, message string) string {
	if message == "" {
		return name
	}
	return name + ": " + message
}

// maxWaits is the number of components that the summary names.
const maxWaits = 3

// waitingFor returns the message of a summary that waits for the components.
func waitingFor(waits []string) string {
	if len(waits) == 0 {
		return textProgressing
	}
	shown := waits[:min(len(waits), maxWaits)]
	text := "Waiting for " + strings.Join(shown, "; ")
	if more := len(waits) - len(shown); more > 0 {
		text += "; and " + strconv.Itoa(more) + " more"
	}
	return conditions.Bound(text)
}

// contribution returns the part of a component in the summary.
func (a *Assessor) contribution(p *part) (state State, reason, message string) {
	c, found := a.manager.Get(p.name + conditions.Ready)
	if p.name == "" || !found {
		return p.state, p.reason, p.message
	}
	switch {
	case c.Status == metav1.ConditionTrue && (p.kept || len(p.errors) == 0):
		return Ready, c.Reason, c.Message
	case p.kept && a.wasFailing():
		return Degraded, c.Reason, c.Message
	case !p.kept && (p.state.Failing() || p.state == Pending):
		return p.state, c.Reason, c.Message
	}
	return p.waiting(), c.Reason, c.Message
}

// waiting returns the state of a part that is neither ready nor failing: Pending or Progressing.
func (p *part) waiting() State {
	if p.dependency == Upstream {
		return Pending
	}
	return Progressing
}

// wasFailing reports whether the stored summary was a failure. A status other than True does not suffice.
func (a *Assessor) wasFailing() bool {
	s, stored := a.manager.Stored(conditions.Ready)
	return stored && s.Reason != reasonProgressing
}

// foreign reports whether a condition does not belong to a component and counts for the summary.
func (a *Assessor) foreign(conditionType string) bool {
	name, ends := strings.CutSuffix(conditionType, conditions.Ready)
	if !ends || name == "" {
		return false
	}
	for i := range a.parts {
		if a.parts[i].name == name {
			return false
		}
	}
	return true
}

// dependencyDown reports whether there are Infrastructure or Unknown errors outside the grace period.
func (a *Assessor) dependencyDown() bool {
	for i := range a.parts {
		if a.parts[i].kept {
			continue
		}
		for _, e := range a.parts[i].errors {
			if e.Category == Infrastructure || e.Category.String() == string(Unknown) {
				return true
			}
		}
	}
	return false
}

// requeueAfter returns the delay until the next reconciliation is necessary.
func (a *Assessor) requeueAfter() time.Duration {
	after := time.Duration(0)
	if len(a.terminal) > 0 && a.options.Recheck > 0 {
		after = a.options.Recheck
	}
	for i := range a.parts {
		if left := a.graceLeft(); a.parts[i].kept && (after == 0 || left < after) {
			after = left
		}
	}
	return after
}

// sentence names a component in the summary.
func sentence(name, message string) string {
	if name == "" {
		return message
	}
	text := "Component " + name + " is not ready"
	if message != "" {
		text += ": " + message
	}
	return conditions.Bound(text)
}
