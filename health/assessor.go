package health

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/internal/text"
)

// defaultGrace is the grace period of [Options] that give none.
const defaultGrace = 10 * time.Second

// Options of an [Assessor]. The zero value works.
type Options struct {
	// Now is the time of the pass; unset it is the time of the conditions manager, which is kept at whole seconds.
	Now time.Time
	// Grace is how long Infrastructure errors keep the previous condition of a component before it degrades; 0 means
	// 10 seconds, a negative value no grace.
	Grace time.Duration
	// Recheck is after how long a pass with [Assessment.Terminal] errors asks to be repeated, because what solves them (a
	// role, a quota, an admission rule) need not be something that is watched; 0 means never.
	Recheck time.Duration
}

// Assessor folds the components of one pass into conditions. Make one with [NewAssessor]; it is for one pass and not safe for
// concurrent use.
type Assessor struct {
	manager *conditions.Manager
	options Options
	parts   []part

	since    time.Time // when dependencies became unreachable
	settled  bool      // the category conditions are set
	seen     seen
	retry    []*Error
	terminal []*Error
}

// part is a component as it was observed.
type part struct {
	name       string // a valid beginning of a condition type; empty for a failure without a name
	state      State
	reason     string
	message    string
	dependency Dependency
	immediate  bool
	errors     []*Error
	kept       bool // the stored condition stands in
}

// seen is which categories were seen in the pass.
type seen struct {
	program, auth, invalid, missing note
	unreachable                     note // Infrastructure or Unknown
}

// note is whether a category was seen, and the reason and message of its first error that no component's condition has.
type note struct {
	seen           bool
	reason, detail string
}

func (n *note) add(e *Error, named bool) {
	n.seen = true
	if !named && n.detail == "" {
		n.reason, n.detail = e.Reason, text.Scrub(e.Message)
	}
}

// conditionReason is the reason of a condition: who or what refused, where no component's condition has it, else that of the category.
func (n *note) conditionReason(category string) string {
	if n.reason == "" {
		return category
	}
	return n.reason
}

// message appends the first error's detail to the text of a condition.
func (n *note) message(summary string) string {
	if n.detail == "" {
		return summary
	}
	return conditions.Bound(summary + ": " + n.detail)
}

// Assessment is the outcome of [Assessor.Summarize].
type Assessment struct {
	// State is the worst state of the components; Failed with errors of Auth, InvalidSpec or MissingUpstreamDependency.
	State State
	// Retry joins the errors that trying again may solve, Infrastructure, Conflict and Unknown; nil for none. errors.Is and errors.As look
	// into all of them. What
	// an inspector found wrong with a child is not in it.
	Retry error
	// Terminal are the errors that trying again does not solve: InvalidSpec, Auth, ResourceExhaustion and ProgramError; without what an
	// inspector found wrong with a child.
	Terminal []*Error
	// RequeueAfter is when the pass has to be repeated although nothing changes: the end of the grace period, or
	// [Options].Recheck; 0 for neither.
	RequeueAfter time.Duration
}

// spareParts is the room for components that an assessor starts with.
const spareParts = 8

// NewAssessor starts the assessment of a pass. The manager must not be nil; it holds the stored conditions and takes the new ones.
func NewAssessor(m *conditions.Manager, o Options) *Assessor {
	if o.Now.IsZero() {
		o.Now = m.Now()
	}
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	a := &Assessor{manager: m, options: o, parts: make([]part, 0, spareParts), since: m.Now()}
	if c, found := m.Stored(DependenciesReachable); found && c.Status == "False" {
		a.since = c.LastTransitionTime.Time
	}
	return a
}

// Observe takes components in and sets their conditions and those of the categories: DependenciesReachable, AuthValid and
// ConfigValid. It may be called several times in a pass, e.g. again with what came of applying; of two components of one name the
// worse state counts, the later of equals, and the errors of both.
func (a *Assessor) Observe(components ...Component) {
	for i := range components {
		if p := a.take(&components[i]); p != nil {
			a.setComponent(p)
		}
	}
	a.setCategories()
}

// take notes a component and its errors; nil when it means "does not apply".
func (a *Assessor) take(c *Component) *part {
	list := c.Categorized()
	fresh := part{
		name: typeName(c.Name), state: c.State, reason: c.Reason, message: c.Message,
		dependency: c.Dependency, immediate: c.Immediate, errors: list,
	}
	fresh.complete()
	if fresh.name == "" && fresh.state == Ready {
		return nil
	}
	for _, e := range list {
		a.count(e, c.Child, fresh.name != "")
	}
	return a.merge(fresh)
}

// complete fills what the component left to its errors.
func (p *part) complete() {
	if p.state == "" || p.state == Ready {
		p.state = Ready
		for _, e := range p.errors {
			p.state = worst(p.state, e.Category.State())
		}
	}
	for _, e := range p.errors {
		if p.reason == "" {
			p.reason = e.Reason
		}
		if p.message == "" {
			p.message = e.Message
		}
	}
	if p.reason == "" {
		p.reason = string(p.state)
	}
	if p.name == "" && len(p.errors) > 1 { // no condition of its own has the others
		p.message += fmt.Sprintf(" (and %d more)", len(p.errors)-1)
	}
	if len(p.errors) > 0 || p.state.Failing() {
		p.message = text.Scrub(p.message)
	}
	p.message = conditions.Bound(p.message)
}

// merge adds a part, or joins it with the one that has its name.
func (a *Assessor) merge(fresh part) *part {
	for i := range a.parts {
		p := &a.parts[i]
		if p.name != fresh.name || p.name == "" {
			continue
		}
		errors := slices.Concat(p.errors, fresh.errors)
		immediate := p.immediate || fresh.immediate
		if !Worse(p.state, fresh.state) {
			*p = fresh
		}
		p.errors, p.immediate = errors, immediate
		return p
	}
	a.parts = append(a.parts, fresh)
	return &a.parts[len(a.parts)-1]
}

// count notes what an error means for the whole owner.
func (a *Assessor) count(e *Error, child, named bool) {
	switch e.Category {
	case ProgramError:
		a.seen.program.add(e, named)
	case Auth:
		a.seen.auth.add(e, named)
	case InvalidSpec:
		a.seen.invalid.add(e, named)
	case MissingUpstreamDependency:
		a.seen.missing.add(e, named)
	case Infrastructure, Unknown:
		a.seen.unreachable.add(e, named)
	case MissingDownstreamDependency, ResourceExhaustion, Conflict:
		// They concern their component alone.
	default:
		a.seen.unreachable.add(e, named)
	}
	if child && e.Cause == nil { // the verdict of an inspector: a watch brings its changes
		return
	}
	switch {
	case e.Category.Retries():
		a.retry = append(a.retry, e)
	case e.Category.Terminal():
		a.terminal = append(a.terminal, e)
	}
}

// typeName leaves out of a component's name what a condition type cannot have.
func typeName(name string) string {
	if strings.IndexFunc(name, unfit) >= 0 {
		name = strings.Map(func(r rune) rune {
			if unfit(r) {
				return -1
			}
			return r
		}, name)
	}
	name = strings.TrimLeft(name, "-_.")
	return name[:min(len(name), maxName)]
}

// maxName keeps a condition type below the 316 bytes that the API allows.
const maxName = 253

// unfit reports whether a condition type cannot have the character.
func unfit(r rune) bool {
	return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.", r)
}
