package trigger

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
)

const (
	// maxRestless is the number of consecutive passes that may compute a new plan although only writes of the pass before triggered
	// them. A plan that follows its own writes, such as the address that was assigned to a child, needs one or two.
	maxRestless = 5
	// firstRest is the first deferral of such a pass; the time doubles up to longestRest.
	firstRest   = time.Second
	longestRest = 5 * time.Minute
	// maxRemembered bounds the events and writes that are recorded for one owner; with more, the owner does not count as unstable.
	maxRemembered = 512
)

// Unstable detects owners whose plan changes in every pass, so that the writes of each pass trigger the next. The inputs of a plan may
// change at any rate: only passes that are triggered solely by the controller's own writes count. It is safe for concurrent use, with
// one pass per owner at a time. The zero value is ready.
type Unstable struct {
	mu     sync.Mutex
	owners map[types.NamespacedName]*restless
}

// restless is the state of an owner whose last pass wrote something.
type restless struct {
	writes   []objectVersion
	appeared []objectVersion // created by the pass before
	count    int             // of passes that computed a new plan
	until    time.Time
	own      bool // only writes of this controller triggered the pass
	deferred bool // the pass was deferred, and a requeue triggers it
}

// objectVersion is the version of an object after a write or an event. The version of a deleted object is empty.
type objectVersion struct {
	kind    schema.GroupKind
	key     types.NamespacedName
	uid     types.UID
	version string
}

func (o objectVersion) same(other objectVersion) bool {
	return o.kind == other.kind && o.key == other.key
}

// Start returns how long to defer the pass.
func (u *Unstable) Start(owner types.NamespacedName, woken Trigger, known bool, now time.Time) time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	r := u.owners[owner]
	if r == nil {
		return 0
	}
	r.own = (known && r.wrote(woken.Events)) || (!known && r.deferred)
	if rest := r.until.Sub(now); r.own && rest > 0 {
		r.deferred = true
		return rest
	}
	r.deferred = false
	return 0
}

// wrote reports whether all events are of writes of this controller.
func (r *restless) wrote(events []objectVersion) bool {
	return len(events) > 0 && len(events) < maxRemembered && !slices.ContainsFunc(events, func(e objectVersion) bool {
		return !slices.ContainsFunc(r.writes, func(w objectVersion) bool {
			return w.same(e) && ((w.version != "" && w.version == e.version) || (w.version == "" && w.uid == e.uid))
		})
	})
}

// Applied records the result of a pass, and adds an error to the result if the plan keeps changing.
func (u *Unstable) Applied(owner types.NamespacedName, result *apply.Result, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	r := u.owners[owner]
	if r == nil {
		r = &restless{}
	}
	changed := r.changed(result)
	switch {
	case !wroteAny(result): // steady state
		r.count, r.until = 0, time.Time{}
	case len(changed) > 0 && r.own:
		if r.count++; r.count >= maxRestless {
			r.until = now.Add(restFor(r.count - maxRestless))
		}
	}
	if r.count >= maxRestless {
		for _, i := range changed {
			if o := &result.Objects[i]; o.Err == nil {
				o.Err = unstablePlan(*o)
			}
		}
	}
	r.note(result)
	r.own = false
	if len(r.writes) == 0 {
		delete(u.owners, owner)
		return
	}
	if u.owners == nil {
		u.owners = map[types.NamespacedName]*restless{}
	}
	u.owners[owner] = r
}

func wroteAny(result *apply.Result) bool {
	return slices.ContainsFunc(result.Objects, func(o apply.ObjectResult) bool { return o.Wrote() })
}

// changed returns the indexes of the objects whose plan differs from that of the pass before: their planned content has changed, or the
// pass before created them and they are no longer planned.
func (r *restless) changed(result *apply.Result) []int {
	var out []int
	for i, o := range result.Objects {
		id := objectVersion{kind: o.GVK.GroupKind(), key: o.Key}
		switch {
		case !o.Wrote():
		case o.Verb == apply.VerbUpdate && o.Reason == apply.ReasonPlanChanged,
			o.Outcome == apply.OutcomePruned && slices.ContainsFunc(r.appeared, id.same):
			out = append(out, i)
		}
	}
	return out
}

// note records the writes of a pass.
func (r *restless) note(result *apply.Result) {
	if len(r.writes) > maxRemembered || !wroteAny(result) {
		r.writes = nil
	}
	r.appeared = nil
	for _, o := range result.Objects {
		if !o.Wrote() {
			continue
		}
		w := objectVersion{kind: o.GVK.GroupKind(), key: o.Key, uid: o.UID, version: o.ResourceVersion}
		switch o.Outcome {
		case apply.OutcomeDeleted, apply.OutcomePruned:
			w.version = ""
		case apply.OutcomeCreated:
			r.appeared = append(r.appeared, w)
		case apply.OutcomeUpdated, apply.OutcomeReleased, apply.OutcomeUnchanged, apply.OutcomeOptedOut, apply.OutcomeContested, apply.OutcomeBlocked, apply.OutcomeWaiting, apply.OutcomeFailed:
		}
		r.writes = append(r.writes, w)
	}
}

func restFor(times int) time.Duration {
	rest := firstRest
	for range times {
		if rest *= 2; rest >= longestRest {
			return longestRest
		}
	}
	return rest
}

// Forget drops the state of a deleted owner.
func (u *Unstable) Forget(owner types.NamespacedName) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.owners, owner)
}

// unstablePlan returns the error of an unstable plan. It has no count, so that its text does not change while the plan is unstable.
func unstablePlan(o apply.ObjectResult) error {
	const named = 3
	var fields []string
	for _, f := range o.Fields[:min(named, len(o.Fields))] {
		fields = append(fields, f.Path)
	}
	what := "is planned and not planned in turn"
	if o.Outcome != apply.OutcomePruned {
		what = "is planned differently in every pass"
	}
	if len(fields) > 0 {
		what += " (" + strings.Join(fields, ", ") + ")"
	}
	return declaration.NewMistake(declaration.ReasonUnstablePlan, fmt.Errorf("%s, although nothing has changed but what the passes wrote themselves: "+
		"a plan must not depend on the time, on random values or on the order of a map; it is applied less and less often", what))
}
