package health

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/internal/text"
)

// defaultGrace is the default of [Options].Grace.
const defaultGrace = 10 * time.Second

// Options configures an [Assessor]. The zero value is useful.
type Options struct {
	// Now is the time of the reconciliation. Default: the time of the conditions manager, truncated to seconds.
	Now time.Time
	// Grace is the time during which Infrastructure errors keep the previous condition of a component. 0 means 10 seconds, a negative value
	// disables it.
	Grace time.Duration
	// Recheck is the requeue delay after [Assessment.Terminal] errors, because their remedy (a role, a quota, an admission rule) may not be
	// watched. 0 disables it.
	Recheck time.Duration
}

// Assessor aggregates the components of one reconciliation into conditions. Create it with [NewAssessor]. It is not safe for concurrent
// use.
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

// part is an observed component.
type part struct {
	name       string // a valid prefix of a condition type; empty for a failure without a name
	object     string
	state      State
	reason     string
	message    string
	dependency Dependency
	immediate  bool
	errors     []*Error
	kept       bool // the stored condition is kept
}

// seen records which categories occurred.
type seen struct {
	program, auth, invalid, missing note
	unreachable                     note // Infrastructure or Unknown
}

// note records that a category occurred, with the reason and message of its first error that no component's condition shows.
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

// conditionReason returns the reason of the error if no component's condition shows it, else that of the category.
func (n *note) conditionReason(category string) string {
	if n.reason == "" {
		return category
	}
	return n.reason
}

// message appends the first error's detail to a condition message.
func (n *note) message(summary string) string {
	if n.detail == "" {
		return summary
	}
	return conditions.Bound(summary + ": " + n.detail)
}

// Assessment is the result of [Assessor.Summarize].
type Assessment struct {
	// State is the worst state of the components; Failed if there are errors of Auth, InvalidSpec or MissingUpstreamDependency.
	State State
	// Retry joins the errors that a retry may resolve (Infrastructure, Conflict and Unknown), nil for none. errors.Is and errors.As examine
	// all of them. It omits an inspector's findings about a child.
	Retry error
	// Terminal are the errors that a retry does not resolve: InvalidSpec, Auth, ResourceExhaustion and ProgramError. It omits an inspector's
	// findings about a child.
	Terminal []*Error
	// RequeueAfter is the delay until the end of the grace period or [Options].Recheck; 0 for neither.
	RequeueAfter time.Duration
}

// initialParts is the initial capacity for components.
const initialParts = 8

// NewAssessor returns an assessor that reads the stored conditions from the manager and sets the new ones there. The manager must not be
// nil.
func NewAssessor(m *conditions.Manager, o Options) *Assessor {
	if o.Now.IsZero() {
		o.Now = m.Now()
	}
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	a := &Assessor{manager: m, options: o, parts: make([]part, 0, initialParts), since: m.Now()}
	if c, found := m.Stored(DependenciesReachable); found && c.Status == "False" {
		a.since = c.LastTransitionTime.Time
	}
	return a
}

// Observe records components and sets their conditions and those of the categories: DependenciesReachable, AuthValid and ConfigValid. It
// may be called several times, for example again with the result of applying. Of two components with one name the worse state counts, the
// later of equals, and the errors of both.
func (a *Assessor) Observe(components ...Component) {
	for i := range components {
		if p := a.take(&components[i]); p != nil {
			a.setComponent(p)
		}
	}
	a.setCategories()
}

// take records a component and its errors. It returns nil for a component that does not apply.
func (a *Assessor) take(c *Component) *part {
	list := c.Categorized()
	fresh := part{
		name: typeName(c.Name), object: c.Object, state: c.State, reason: c.Reason, message: c.Message,
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

// complete derives the unset fields of the component from its errors.
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
	if p.name == "" && len(p.errors) > 1 { // no component's condition shows the others
		p.message += fmt.Sprintf(" (and %d more)", len(p.errors)-1)
	}
	p.message = about(p.object, p.state, p.message)
	if len(p.errors) > 0 || p.state.Failing() {
		p.message = text.Scrub(p.message)
	}
	p.message = conditions.Bound(p.message)
}

// merge adds a part, or merges it with the part of the same name.
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

// count records the effect of an error on the owner.
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
		// Other categories affect only their component.
	default:
		a.seen.unreachable.add(e, named)
	}
	if child && e.Cause == nil { // an inspector's finding: a watch reports its changes
		return
	}
	switch {
	case e.Category.Retries():
		a.retry = append(a.retry, e)
	case e.Category.Terminal():
		a.terminal = append(a.terminal, e)
	}
}

// typeName removes characters from a component's name that a condition type cannot contain.
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

// maxName keeps a condition type below the API's limit of 316 bytes.
const maxName = 253

// unfit reports whether a condition type cannot contain the character.
func unfit(r rune) bool {
	return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.", r)
}
