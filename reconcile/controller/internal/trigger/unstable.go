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
	// maxRestless is how many passes in a row may find another plan although nothing but the writes of the pass before has
	// woken them. A plan that follows its own writes, such as the address that a child was given, needs one or two.
	maxRestless = 5
	// firstRest is how long the next such pass is deferred; the time doubles up to longestRest.
	firstRest   = time.Second
	longestRest = 5 * time.Minute
	// maxRemembered bounds the events and writes that are remembered of one owner; with more of them nothing is concluded.
	maxRemembered = 512
)

// Unstable finds owners whose plan is another one in every pass, so that each pass writes what wakes the next. What a plan is
// made from may change at any speed: only passes that nothing but our own writes has woken count. It is safe for concurrent
// use, with one pass an owner at a time. The zero value is ready.
type Unstable struct {
	mu     sync.Mutex
	owners map[types.NamespacedName]*restless
}

// restless is what is remembered of an owner whose last pass wrote something.
type restless struct {
	writes   []objectVersion
	appeared []objectVersion // created by the pass before
	count    int             // of passes that found another plan
	until    time.Time
	own      bool // nothing but writes of ours has woken the pass
	deferred bool // the pass was deferred, and a requeue starts it
}

// objectVersion is an object as a write, or an event, left it. The version of one that was deleted is empty.
type objectVersion struct {
	kind    schema.GroupKind
	key     types.NamespacedName
	uid     types.UID
	version string
}

func (o objectVersion) same(other objectVersion) bool {
	return o.kind == other.kind && o.key == other.key
}

// Start returns how long the pass is to be deferred.
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

// wrote reports whether all events show writes of ours.
func (r *restless) wrote(events []objectVersion) bool {
	return len(events) > 0 && len(events) < maxRemembered && !slices.ContainsFunc(events, func(e objectVersion) bool {
		return !slices.ContainsFunc(r.writes, func(w objectVersion) bool {
			return w.same(e) && ((w.version != "" && w.version == e.version) || (w.version == "" && w.uid == e.uid))
		})
	})
}

// Applied takes in what a pass did, and reports in the result a plan that does not come to rest.
func (u *Unstable) Applied(owner types.NamespacedName, result *apply.Result, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	r := u.owners[owner]
	if r == nil {
		r = &restless{}
	}
	changed := r.changed(result)
	switch {
	case !wroteAny(result): // it has come to rest
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

// changed are the objects of which the plan says something else than in the pass before: another content, or nothing any more
// although that pass has made them.
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

// note remembers the writes of a pass.
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

// Forget drops what is remembered for an owner that is gone.
func (u *Unstable) Forget(owner types.NamespacedName) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.owners, owner)
}

// unstablePlan is the report. It does not say how often, so that it stays the same while the plan does not come to rest.
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
