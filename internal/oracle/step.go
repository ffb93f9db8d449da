package oracle

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// step executes one or two events for one child, then passes until steady state.
func (s *sequence) step(i int) error {
	c := s.children[s.random.IntN(len(s.children))]
	if i == 0 {
		s.tally.event("first plan", c.kind)
		return s.settle(c)
	}
	s.clock.Step(time.Hour)
	happened := 1
	if s.random.IntN(4) == 0 {
		happened = 2
	}
	lag := s.random.IntN(8) == 0
	for range happened {
		if err := s.event(i, c); err != nil {
			return err
		}
	}
	if lag {
		return s.settleLagging(c)
	}
	return s.settle(c)
}

// event executes one event.
func (s *sequence) event(i int, c *child) error {
	n := s.random.IntN(100)
	switch {
	case n < 45:
		s.changePlan(i, c)
	case n < 86:
		return s.foreign(i, c)
	case n < 92:
		s.record("%d. restart", i)
		s.tally.event("restart", c.kind)
		return s.restart()
	case n < 96:
		s.changeForm(i, c)
		s.tally.event("other Go type", c.kind)
		c.checked = false
		return s.refresh(c)
	default:
		c.now.rules = randomRules(s.random, c.now.content)
		s.tally.event("rules", c.kind)
		if s.random.IntN(2) == 0 {
			c.now.rules = nil
		}
		s.record("%d. rules %v", i, c.now.rules)
		c.checked = false
	}
	return nil
}

// changeForm plans the child as another Go type, which can represent the current and the previous plan.
func (s *sequence) changeForm(i int, c *child) {
	now, accepted, seed := c.now.form, c.accepted.form, c.seed
	forms := c.kind.forms()
	form := forms[s.random.IntN(len(forms))]
	c.now.form, c.accepted.form, c.seed = form, form, s.random.Uint64()
	if !c.kind.holds(c.now, c.key, c.seed) || !c.kind.holds(c.accepted, c.key, c.seed) {
		c.now.form, c.accepted.form, c.seed = now, accepted, seed
		return
	}
	s.record("%d. planned as %s", i, form)
}

func (s *sequence) changePlan(i int, c *child) {
	var value any
	var description string
	var ok bool
	if s.random.IntN(3) == 0 { // alone, otherwise another change would be sent with it
		value, description, ok = c.kind.shape.MutateAlike(s.random, c.now.content)
		s.replan(i, c, value, description)
	}
	for range 1 + s.random.IntN(2) {
		if ok {
			break
		}
		value, description = c.kind.shape.Mutate(s.random, c.now.content)
		s.replan(i, c, value, description)
	}
	s.tally.event("plan", c.kind)
	c.checked = false
}

// replan plans the child with the content.
func (s *sequence) replan(i int, c *child, content any, description string) {
	if m, ok := content.(map[string]any); ok && description != "" {
		c.now.content = m
		s.record("%d. plan %s%s", i, c.key.Name, description)
	}
}

// foreign writes as another client. A rejected write counts as none.
func (s *sequence) foreign(i int, c *child) error {
	if c.live == nil {
		if c.mode == apply.Contribute {
			return errors.Join(s.make(c), s.refresh(c))
		}
		return nil
	}
	before, wasChecked := c.live, c.checked
	for range 4 {
		description, err := foreignWrite(s.ctx, s.oracle.client, s.random, c.kind, c.live)
		if err != nil {
			continue
		}
		s.record("%d. %s: %s", i, c.key.Name, description)
		if err := s.refresh(c); err != nil {
			return err
		}
		cut := strings.HasPrefix(description, cutFields)
		if s.transform == nil || !s.strips && !cut { // a shortened entry of other managers may contain fields that were removed from ours
			c.noteLost(before, wasChecked, cut)
		}
		c.noteRestored(description)
		if cut && s.random.IntN(2) == 0 { // before a pass owns them again
			s.leaveOutLost(i, c)
		}
		s.tally.event("foreign write", c.kind)
		c.checked = false
		return nil
	}
	return nil
}

// leaveOutLost removes one of the fields with lost ownership from the plan.
func (s *sequence) leaveOutLost(i int, c *child) {
	lost := slices.Sorted(maps.Keys(c.lost))
	if len(lost) == 0 {
		return
	}
	names, ok := fieldsOnly(c.lost[lost[s.random.IntN(len(lost))]])
	if !ok {
		return
	}
	content := runtime.DeepCopyJSON(c.now.content)
	unstructured.RemoveNestedField(content, names...)
	s.replan(i, c, content, "."+strings.Join(names, ".")+": removed")
}

// settle runs passes until nothing is sent. It compares each child reported as unchanged with a dry run.
func (s *sequence) settle(c *child) error {
	for n := range mostPasses {
		result, sent, err := s.pass()
		if err != nil || s.broken != "" {
			return err
		}
		// A permanent failure is retried in every pass; the work queue is responsible for the delay. A cache without managedFields does not
		// show the owner of a contested field.
		looks := s.strips && !slices.ContainsFunc(sent, func(line string) bool { return !strings.HasPrefix(line, "GET ") })
		if len(sent) == 0 || n >= failingPasses && (fails(result) || looks) {
			return s.settled(c, result)
		}
	}
	s.fail("steady state", fmt.Sprintf("%d passes without reaching steady state", mostPasses))
	return nil
}

// settleLagging runs passes while the cache does not show our own writes.
func (s *sequence) settleLagging(c *child) error {
	for range 2 {
		result := s.engine.Apply(s.ctx, s.owner, s.plan())
		sent := s.client.take()
		s.record("   lagging pass: %s %v", outcomes(result), sent)
		for i, child := range s.children {
			if _, err := s.read(child); err != nil {
				return err
			}
			if len(sent) > 0 {
				child.checked = false
			}
			if result.Objects[i].Outcome == outcomeUnchanged {
				s.compare(child)
			}
		}
		if s.broken != "" {
			return nil
		}
		s.clock.Step(time.Second)
	}
	for _, child := range s.children {
		if err := s.refresh(child); err != nil {
			return err
		}
	}
	return s.settle(c)
}

// settled handles a plan that could not be applied: a rejected plan is reverted to the accepted one, a stuck object is deleted.
func (s *sequence) settled(c *child, result apply.Result) error {
	outcome := result.Objects[s.index(c)].Outcome
	s.tally.outcome(string(outcome))
	if outcome == outcomeUnchanged {
		c.accepted = c.now
		return nil
	}
	if c.now.same(c.accepted) {
		if c.live != nil && s.random.IntN(2) == 0 {
			s.record("   a user deletes the object")
			c.checked, c.lost, c.unproven = false, nil, ""
			s.remove(c)
			return s.refresh(c)
		}
		return nil
	}
	s.record("   the plan is reverted to the last accepted one")
	c.now, c.checked = c.accepted, false
	if err := s.refresh(c); err != nil {
		return err
	}
	s.clock.Step(time.Hour)
	return s.settle(c)
}

func fails(result apply.Result) bool {
	return slices.ContainsFunc(result.Objects, func(o apply.ObjectResult) bool { return o.Outcome == outcomeFailed })
}

func (s *sequence) index(c *child) int {
	for i := range s.children {
		if s.children[i] == c {
			return i
		}
	}
	return -1
}
