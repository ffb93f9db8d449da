package oracle

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// Outcomes of the engine for a child, see apply.Outcome.
const (
	outcomeUnchanged apply.Outcome = "Unchanged"
	outcomeCreated   apply.Outcome = "Created"
	outcomeUpdated   apply.Outcome = "Updated"
	outcomeFailed    apply.Outcome = "Failed"
)

// plan returns the current plan of the sequence, in new objects, as an author creates them.
func (s *sequence) plan() apply.Plan {
	children := make([]apply.Child, 0, len(s.children))
	for _, c := range s.children {
		planned, err := c.planned()
		if err != nil {
			// Some contents have no Go representation.
			c.now = c.accepted
			planned, _ = c.planned()
		}
		children = append(children, planned)
	}
	return setOf(children...)
}

func setOf(children ...apply.Child) apply.Plan { return apply.Plan{Children: children} }

// pass applies the plan once, and checks the engine's result for each child.
func (s *sequence) pass() (apply.Result, []string, error) {
	before := make([]map[string]any, len(s.children))
	for i, c := range s.children {
		before[i] = c.live
	}
	result := s.engine.Apply(s.ctx, s.owner, s.plan())
	sent := s.client.take()
	s.record("   pass: %s %v", outcomes(result), sent)
	if result.OwnerErr != nil {
		return result, sent, fmt.Errorf("sequence %d: %w", s.number, result.OwnerErr)
	}
	for i, c := range s.children {
		if len(sent) > 0 {
			c.checked = false
			if err := s.refresh(c); err != nil {
				return result, sent, err
			}
		}
		s.leavesAlone(c, before[i], sent)
		s.leavesRestored(c)
		switch result.Objects[i].Outcome {
		case outcomeUnchanged:
			s.countWrite(c, before[i], sent)
			s.compare(c)
			s.notLeftBehind(c, len(sent) == 0)
		case outcomeCreated, outcomeUpdated:
			s.countWrite(c, before[i], sent)
		default:
			s.record("     %v", result.Objects[i].Err)
		}
	}
	return result, sent, nil
}

// countWrite counts a write to the child, and whether it changed anything.
func (s *sequence) countWrite(c *child, before map[string]any, sent []string) {
	if wroteTo(sent, c) {
		needless := before != nil && c.live != nil && len(differences(before, c.live, fieldManager)) == 0
		s.tally.write(c, needless, s.lines)
	}
}

// wroteTo reports whether one of the requests wrote to the child.
func wroteTo(sent []string, c *child) bool {
	return slices.ContainsFunc(sent, func(line string) bool {
		return !strings.HasPrefix(line, "GET ") && strings.HasSuffix(line, c.kind.gvk.Kind+" "+c.key.Name)
	})
}

// cannotApply is the error of every apply to an object that the API server has stored but cannot convert for an apply, such as a map list
// with an item without keys in a kind that drops empty strings. An apply cannot change such an object, so "unchanged" is correct; a
// changed plan fails.
const cannotApply = "failed to create typed live object"

// compare checks a child that is reported as unchanged: a forced dry run of its apply changes nothing.
func (s *sequence) compare(c *child) {
	if c.checked || s.broken != "" {
		return
	}
	s.tally.check()
	if c.live == nil {
		s.fail("unchanged", "the object does not exist")
		return
	}
	if c.mode == apply.Once {
		c.checked = true // only its existence matters
		return
	}
	var found []string
	once := c.sentOnce() // their ownership is not checked
	kept := c.kept()
	var intents []*intent
	for _, in := range s.intents(c) {
		if intents = append(intents, in.keeping(kept, c.live)); len(kept) > 0 {
			intents = append(intents, in) // kept values may be defaults of the server
		}
	}
	for _, in := range intents {
		answer := c.kind.newObject(c.now.form) // representation of a read
		answer.SetName(c.key.Name)
		answer.SetNamespace(c.key.Namespace)
		err := s.oracle.client.Patch(s.ctx, answer, in.patch(), in.dryRun()...)
		if err != nil && strings.Contains(err.Error(), cannotApply) {
			c.checked = true
			return
		}
		if err != nil {
			found = []string{"the dry run failed: " + err.Error()}
			continue
		}
		answer.GetObjectKind().SetGroupVersionKind(c.kind.gvk)
		manager := in.manager
		if s.strips {
			manager = "" // an ownership that the engine cannot read cannot be compared
		}
		if found = differences(withoutOwned(c.live, once), withoutOwned(jsonOf(answer), once), manager); len(found) == 0 {
			c.checked = true
			return
		}
	}
	s.fail("unchanged", append(found, "live: "+full(c.live))...)
}

// intents returns the valid bodies of an apply: seeded fields may be omitted or kept.
func (s *sequence) intents(c *child) []*intent {
	var out []*intent
	for _, live := range []map[string]any{c.live, nil} {
		in := s.capture(c, live)
		if in == nil {
			continue
		}
		// Each seed may be omitted or not, and fields that are sent once may have any owner.
		seeds := append(c.seeds(), c.sentOnce()...)
		for some := range 1 << len(seeds) {
			var omitted []string
			for i, seed := range seeds {
				if some>>i&1 == 1 {
					omitted = append(omitted, seed)
				}
			}
			out = append(out, in.without(omitted))
			if len(omitted) > 0 {
				out = append(out, in.without(omitted).withoutHollow())
			}
		}
		out = append(out, in.withoutTheirs(seeds, c.live), in.sharing(seeds, c.live))
		if len(seeds) == 0 {
			return out
		}
	}
	if len(out) > 0 {
		return out
	}
	if in := s.capture(c.sendingAgain(), c.live); in != nil {
		return []*intent{in} // nothing is sent for a contribution any more
	}
	s.fail("unchanged", "an engine without memory would not apply it")
	return nil
}

// sendingAgain returns the child without the rules for fields that are sent once.
func (c *child) sendingAgain() *child {
	again := *c
	again.now.rules = slices.DeleteFunc(slices.Clone(c.now.rules), func(r apply.FieldRule) bool { return r.Policy == policy(apply.CreateOnly) })
	return &again
}

func (s *sequence) fail(property string, why ...string) {
	if s.broken != "" {
		return
	}
	s.broken = property
	s.record("BROKEN (%s):", property)
	for _, line := range why {
		s.record("  %s", line)
	}
}

func outcomes(result apply.Result) string {
	outcomeNames := make([]string, 0, len(result.Objects))
	for i := range result.Objects {
		outcomeNames = append(outcomeNames, string(result.Objects[i].Outcome))
	}
	return strings.Join(outcomeNames, ", ")
}

// reference returns the child with only its name.
func (c *child) reference() client.Object {
	m := c.kind.newObject(Unstructured)
	m.SetName(c.key.Name)
	m.SetNamespace(c.key.Namespace)
	return m
}

// without returns the intent without the fields.
func (i *intent) without(paths []string) *intent {
	if len(paths) == 0 {
		return i
	}
	body := parse(i.body)
	for _, path := range paths {
		removePath(body, path)
	}
	data, _ := jsonText(body)
	return &intent{body: []byte(data), manager: i.manager}
}

// withoutHollow returns the intent without empty parents, for example of a seed.
func (i *intent) withoutHollow() *intent {
	data, _ := jsonText(withoutHollow(parse(i.body)))
	return &intent{body: []byte(data), manager: i.manager}
}

// withoutTheirs returns the intent without the fields that only others own.
func (i *intent) withoutTheirs(paths []string, live map[string]any) *intent {
	body := parse(i.body)
	ours, others := ownedBy(live, true), ownedBy(live, false)
	for _, path := range paths {
		part := map[string]any{}
		copyPath(part, body, path)
		for name, theirs := range others {
			if _, shared := ours[name]; !shared && !leadsTo(name, ours) && exists(part, theirs) {
				removeWithHollow(body, theirs)
			}
		}
	}
	data, _ := jsonText(body)
	return &intent{body: []byte(data), manager: i.manager}
}

// sharing returns the intent with the object's values of the fields that we own together with others: we cannot change them, and remain
// owner.
func (i *intent) sharing(paths []string, live map[string]any) *intent {
	var shared []string
	others := ownedBy(live, false)
	for name, owned := range ownedBy(live, true) {
		names, ok := fieldsOnly(owned)
		if _, both := others[name]; !ok || !both {
			continue
		}
		for _, path := range paths {
			if below := fieldNames(path); len(below) <= len(names) && slices.Equal(below, names[:len(below)]) {
				shared = append(shared, joinNames(names))
			}
		}
	}
	return i.keeping(shared, live)
}

func (i *intent) patch() client.Patch { return client.RawPatch(types.ApplyPatchType, i.body) }

func (i *intent) dryRun() []client.PatchOption {
	return []client.PatchOption{client.DryRunAll, client.ForceOwnership, client.FieldOwner(i.manager)}
}

func (i intention) same(other intention) bool { return reflect.DeepEqual(i, other) }

func jsonText(value any) (string, error) {
	out, err := json.Marshal(value)
	return string(out), err
}
