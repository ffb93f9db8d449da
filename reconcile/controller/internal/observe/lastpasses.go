package observe

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unique"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/text"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
	"github.com/reconcilekit/reconcilekit/reconcile/explain"
)

// The limits of the record of one pass. Decisions about objects that differ from the plan, and writes, are kept before
// others.
const (
	maxDecisions = 100
	maxFields    = 20 // of one decision
	MaxReads     = 100
	maxCauses    = 20

	maxDiagnostics = 50  // lines of one cause
	maxDiagnosed   = 200 // bytes of one line
)

// LastPasses records the last passes of each owner, for explanations. A pass that changes nothing overwrites the record in place. Of a plan
// only one line for each object is kept. It is safe for concurrent use, with one pass per owner at a time.
type LastPasses struct {
	clock clock.PassiveClock

	mu     sync.Mutex
	owners map[types.NamespacedName]*recalled
}

// recalled is the record of one owner.
type recalled struct {
	trigger  startedBy // of the running pass
	running  time.Time // when the running pass began; zero between passes
	last     passed
	wrote    *passed // the last pass that wrote something, if it is not the last pass
	deferred string  // why a pass was deferred; empty if none is
	until    time.Time
}

// passed is one pass.
type passed struct {
	at            time.Time
	trigger       startedBy
	objects       []decided
	more          int
	causes        []explain.Cause
	blocked       string
	pruneBlocked  string
	statusWritten bool
	wrote         bool
	next          time.Duration
	why           string // the reason for next
}

// startedBy is the trigger of a pass: the first of its events, or none.
type startedBy struct {
	trigger.Trigger
	known bool
}

// decided is one object of a pass, without its values.
type decided struct {
	key     types.NamespacedName
	verdict unique.Handle[verdict]
	details *details // nil for an object that matches the plan
}

// verdict is a decision that most objects of a kind share.
type verdict struct {
	kind    string
	verb    apply.Verb
	reason  apply.Reason
	outcome apply.Outcome
}

// details has the explanation of a decision in addition to the verdict.
type details struct {
	fields []string
	waits  string
	err    string
}

// NewLastPasses returns an empty LastPasses.
func NewLastPasses(c clock.PassiveClock) *LastPasses {
	return &LastPasses{clock: c, owners: map[types.NamespacedName]*recalled{}}
}

func (r *LastPasses) of(owner types.NamespacedName) *recalled {
	o := r.owners[owner]
	if o == nil {
		o = &recalled{}
		r.owners[owner] = o
	}
	return o
}

// started records the trigger of the pass that begins.
func (r *LastPasses) started(owner types.NamespacedName, first trigger.Trigger, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.of(owner)
	first.Events = nil
	o.trigger, o.deferred, o.running = startedBy{first, known}, "", r.clock.Now()
}

// Ended records that no pass of the owner is running.
func (r *LastPasses) Ended(owner types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o := r.owners[owner]; o != nil {
		o.running = time.Time{}
	}
}

// Wait records that a pass is deferred. It ignores owners without a record.
func (r *LastPasses) Wait(owner types.NamespacedName, why string, rest time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o := r.owners[owner]; o != nil {
		o.deferred, o.until = why, r.clock.Now().Add(rest)
	}
}

// done records the result of a pass.
func (r *LastPasses) done(report *reconcile.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if report.Gone {
		delete(r.owners, report.Request.NamespacedName)
		return
	}
	o := r.of(report.Request.NamespacedName)
	if report.Paused {
		return // the earlier record stays valid
	}
	p := &o.last
	if p.wrote {
		before := *p
		o.wrote, p.objects = &before, nil
	}
	p.at, p.trigger = r.clock.Now(), o.trigger
	p.statusWritten, p.next, p.why = report.StatusWritten, report.Next, waitsFor(report)
	p.blocked, p.pruneBlocked = "", ""
	if report.Blocked != nil {
		p.blocked = Safe(report.Blocked.Error())
	}
	if kept := report.Applied.PruneBlocked; kept != nil {
		p.pruneBlocked = Safe(kept.Error())
	}
	p.decided(&report.Applied)
	if p.causes = CausesOf(report); p.wrote {
		o.wrote = nil
	}
}

// maxScrubbed limits the text that is searched for credentials. It is far longer than the recorded text, so truncation hides none.
const maxScrubbed = 16 << 10

// Safe truncates a text and removes credentials.
func Safe(message string) string {
	return conditions.Bound(text.Scrub(message[:min(len(message), maxScrubbed)]))
}

// decided records the decisions. If there are too many, it prefers those about objects that differ from the plan.
func (p *passed) decided(result *apply.Result) {
	p.objects, p.wrote, p.more = slices.Grow(p.objects[:0], min(len(result.Objects), maxDecisions)), false, 0
	if d := result.Owner; d != nil {
		p.wrote = result.OwnerErr == nil
		p.note(d, "")
	}
	crowded := len(result.Objects) > maxDecisions
	for _, telling := range []bool{true, false} {
		for i := range result.Objects {
			o := &result.Objects[i]
			p.wrote = p.wrote || o.Wrote()
			if crowded && telling != (o.Wrote() || o.Err != nil || o.WaitsUntil != "") {
				continue
			}
			p.note(&o.Decision, o.Outcome)
		}
		if !crowded {
			return
		}
	}
}

func (p *passed) note(d *apply.Decision, outcome apply.Outcome) {
	if len(p.objects) >= maxDecisions {
		p.more++
		return
	}
	one := decided{key: d.Key, verdict: unique.Make(verdict{kind: d.GVK.Kind, verb: d.Verb, reason: d.Reason, outcome: outcome})}
	if d.Err != nil || d.WaitsUntil != "" || len(d.Fields) > 0 {
		one.details = detailsOf(d)
	}
	p.objects = append(p.objects, one)
}

func detailsOf(d *apply.Decision) *details {
	out := &details{waits: Safe(d.WaitsUntil)}
	if d.Err != nil {
		out.err = Safe(d.Err.Error())
	}
	for i := range min(len(d.Fields), maxFields) {
		out.fields = append(out.fields, d.Fields[i].Path)
	}
	return out
}

// waitsFor returns why another pass follows without an event.
func waitsFor(report *reconcile.Report) string {
	switch {
	case report.Next == 0:
		return ""
	case report.Handled != nil:
		return "an error is tried again after a planned requeue, or when the API server has asked for it"
	case len(report.Outcome.Retry) > 0:
		return "an error is tried again with backoff"
	case len(report.Outcome.Terminal) > 0:
		return "an error is looked at again, although trying at once cannot help"
	}
	return "a planned requeue"
}

// CausesOf returns the errors of the pass, followed by the components that are not ready for another reason.
func CausesOf(report *reconcile.Report) []explain.Cause {
	var list []explain.Cause
	add := func(c explain.Cause) {
		at := slices.IndexFunc(list, func(other explain.Cause) bool { return other.Message == c.Message })
		switch {
		case at >= 0 && list[at].Diagnostics == nil:
			list[at].Diagnostics = c.Diagnostics
		case at < 0 && len(list) < maxCauses:
			list = append(list, c)
		}
	}
	for _, err := range slices.Concat(report.Outcome.Terminal, report.Outcome.Retry) {
		eachPart(err, func(part error) {
			if len(list) < maxCauses {
				add(causeOf(part))
			}
		})
	}
	for i := range report.Components {
		c := &report.Components[i]
		if c.Name == "" && len(c.Errors) == 0 || c.GetState() == health.Ready {
			continue
		}
		cause := explain.Cause{Subject: c.Name, Reason: c.GetReason(), Message: Safe(c.GetMessage()), Diagnostics: diagnosed(c.Diagnostics)}
		if errs := c.Categorized(); len(errs) > 0 {
			cause.Category = errs[0].Category.String()
		}
		add(cause)
	}
	for i := range report.Applied.Objects {
		if d := &report.Applied.Objects[i].Decision; d.WaitsUntil != "" && len(list) == 0 { // otherwise it follows from the other causes
			add(explain.Cause{
				Subject: ObjectName(d.GVK.Kind, d.Key), Reason: string(d.Reason), Message: "waits until " + Safe(d.WaitsUntil),
			})
		}
	}
	if len(list) > 0 && len(report.Applied.NotInstalled) > 0 { // otherwise the owner is ready without the children of the kind
		missing := make([]explain.Cause, 0, len(report.Applied.NotInstalled)+len(list))
		for _, kind := range report.Applied.NotInstalled {
			missing = append(missing, explain.Cause{
				Subject: kind.Kind, Reason: "NotInstalled", Message: declaration.Print(kind) + " is not installed in the cluster: install its CRD",
			})
		}
		list = append(missing, list...)
		list = list[:min(len(list), maxCauses)]
	}
	return list
}

// diagnosed returns the non-empty lines of a component's diagnostics, truncated and without credentials.
func diagnosed(diagnostics string) []string {
	if diagnostics == "" {
		return nil
	}
	var lines []string
	for line := range strings.Lines(text.Scrub(diagnostics[:min(len(diagnostics), maxScrubbed)])) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if len(lines) == maxDiagnostics {
			return append(lines, "and more")
		}
		lines = append(lines, text.Cut(line, maxDiagnosed))
	}
	return lines
}

// eachPart calls do for each part of joined errors.
func eachPart(err error, do func(error)) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, part := range joined.Unwrap() {
			eachPart(part, do)
		}
		return
	}
	if err != nil {
		do(err)
	}
}

func causeOf(err error) explain.Cause {
	found := health.Categorize(err)
	cause := explain.Cause{Category: found.Category.String(), Reason: found.Reason, Message: found.Message}
	if cause.Message == "" {
		cause.Message = err.Error()
	}
	cause.Message = Safe(cause.Message)
	if object := (*apply.ObjectError)(nil); errors.As(err, &object) {
		cause.Subject = ObjectName(object.GVK.Kind, object.Key)
	}
	if contested := (*apply.ContestedError)(nil); errors.As(err, &contested) {
		for _, f := range contested.Fields[:min(len(contested.Fields), maxFields)] {
			cause.Contested = append(cause.Contested, explain.Contested{Path: f.Path, Manager: f.Manager})
		}
	}
	return cause
}

// ObjectName returns the kind and the key of an object as text.
func ObjectName(kind string, key types.NamespacedName) string {
	if key.Namespace == "" {
		return kind + " " + key.Name
	}
	return kind + " " + key.String()
}
