package oracle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
)

const (
	fieldManager  = "oracle"
	formerManager = "oracle-v0"
	stepCount     = 24
	mostPasses    = 8
	failingPasses = 2
)

// begin is the start time of each sequence on the engine's clock.
var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant

// sequence is one owner and the events of its children.
type sequence struct {
	oracle *Oracle
	tally  *Tally
	ctx    context.Context //nolint:containedctx // lives as long as the sequence
	number int
	random *rand.Rand

	owner    *widget.Widget
	children []*child
	engine   *engine.Engine
	// transform is the cache's transform; nil is none.
	transform func(any) (any, error)
	// strips reports whether the transform removes managedFields.
	strips bool
	client *engineClient
	// neighbour is another controller's object that looks like a child; nil before it is created.
	neighbour *neighbour
	clock     *testingclock.FakeClock
	lines     []string
	// broken is the violated property; empty if there is none.
	broken string
	steps  int
}

// Run runs one sequence. It returns nil if no property was violated. An error is about the environment, not the engine.
func (o *Oracle) Run(ctx context.Context, number int) (*Failure, error) {
	return o.run(ctx, number, "", nil, o.Tally)
}

// run runs a sequence without the steps in skip. The attempt makes the names unique.
func (o *Oracle) run(ctx context.Context, number int, attempt string, skip map[int]bool, tally *Tally) (*Failure, error) {
	s := &sequence{
		oracle: o, tally: tally, ctx: ctx, number: number, clock: testingclock.NewFakeClock(begin),
		random: rand.New(rand.NewPCG(o.seed, uint64(number))), //nolint:gosec // to be repeated
	}
	namespace := o.namespaces[number%len(o.namespaces)]
	s.owner = &widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("o-%d%s", number, attempt), Namespace: namespace}}
	if err := o.client.Create(ctx, s.owner); err != nil {
		return nil, fmt.Errorf("create the owner: %w", err)
	}
	defer s.clean()
	if err := s.begin(); err != nil {
		return nil, err
	}
	for i := range stepCount {
		if skip[i] {
			continue
		}
		s.steps++
		s.random = rand.New(rand.NewPCG(o.seed^uint64(number)<<20, uint64(i))) //nolint:gosec // to be repeated
		if err := s.step(i); err != nil {
			return nil, err
		}
		if s.broken != "" {
			break
		}
	}
	if s.broken == "" {
		if err := s.withdraw(); err != nil {
			return nil, err
		}
	}
	if s.broken != "" {
		return &Failure{Property: s.broken, Sequence: s.lines, Seed: o.seed, Number: number, Steps: s.steps}, nil
	}
	return nil, nil
}

func (s *sequence) record(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

// begin plans the children and starts the engine.
func (s *sequence) begin() error {
	switch s.random.IntN(12) {
	case 0:
		s.transform = apply.ShortenManagedFields(fieldManager)
		s.record("the cache shortens managedFields")
	case 1:
		s.transform, s.strips = stripManagedFields, true
		s.record("the cache strips managedFields")
	}
	for i := range 1 + s.random.IntN(2) {
		if err := s.addChild(fmt.Sprintf("%s-%d", s.owner.Name, i)); err != nil {
			return err
		}
	}
	return s.restart()
}

// addChild plans a child that the server accepts.
func (s *sequence) addChild(name string) error {
	kinds := s.oracle.everyday
	if s.random.IntN(2) == 0 {
		kinds = s.oracle.custom
	}
	k := kinds[s.random.IntN(len(kinds))]
	if s.random.IntN(8) == 0 {
		k = s.oracle.custom[len(s.oracle.custom)-1]
	}
	c := &child{kind: k, key: client.ObjectKey{Namespace: s.owner.Namespace, Name: name}, seed: s.random.Uint64()}
	once := false
	switch s.random.IntN(9) {
	case 0:
		c.mode = apply.Shared
	case 1:
		c.mode = apply.Contribute
	case 2:
		once = true
	}
	forms := k.forms()
	c.now.form = forms[s.random.IntN(len(forms))]
	c.now.content = k.base(s.random)
	if c.mode == apply.Contribute {
		return s.addContribution(c)
	}
	for range 8 {
		next := c.now
		for range 1 + s.random.IntN(4) {
			value, _ := k.shape.Mutate(s.random, next.content)
			if m, ok := value.(map[string]any); ok {
				next.content = m
			}
		}
		if s.random.IntN(5) == 0 {
			next.rules = randomRules(s.random, next.content)
		}
		if s.creatable(c, next) {
			c.now = next
			break
		}
	}
	if once {
		c.mode = apply.Once
	}
	s.add(c)
	return nil
}

func (s *sequence) add(c *child) {
	c.accepted = c.now
	s.children = append(s.children, c)
	s.record("child %s %s as %s, %s, rules %v: %s", c.kind.gvk.Kind, c.key.Name, c.now.form, modes[c.mode], c.now.rules, full(c.now.content))
	if c.kind.custom {
		s.record("  schema: %s", full(c.kind.shape.Properties["spec"].Schema()))
	}
}

var modes = map[apply.Mode]string{apply.Own: "owned", apply.Shared: "shared", apply.Contribute: "contributed to", apply.Once: "created once"} //nolint:gochecknoglobals // a table

// addContribution plans a few fields of another owner's object.
func (s *sequence) addContribution(c *child) error {
	c.theirs = c.now.content
	if part, ok := thin(s.random, c.now.content).(map[string]any); ok {
		value, _ := c.kind.shape.Mutate(s.random, part)
		c.now.content, _ = value.(map[string]any)
	}
	if c.now.content == nil {
		c.now.content = map[string]any{}
	}
	s.add(c)
	return s.make(c)
}

// make creates the object for a contribution.
func (s *sequence) make(c *child) error {
	o := c.reference()
	u, _ := o.(*unstructured.Unstructured)
	for name, value := range runtime.DeepCopyJSON(c.theirs) {
		if name != "metadata" {
			u.Object[name] = value
		}
	}
	s.record("   %s is created by its owner: %s", c.key.Name, full(c.theirs))
	if err := s.oracle.client.Create(s.ctx, o, client.FieldOwner("its-owner")); err != nil {
		return fmt.Errorf("create %s %s for a contribution: %w", c.kind.gvk.Kind, c.key, err)
	}
	return nil
}

// creatable checks with a dry run whether the server accepts the plan.
func (s *sequence) creatable(c *child, next intention) bool {
	old := c.now
	c.now = next
	defer func() { c.now = old }()
	captured := s.capture(c, nil)
	if captured == nil {
		return false
	}
	return s.oracle.client.Patch(s.ctx, c.reference(), captured.patch(), captured.dryRun()...) == nil
}

func (s *sequence) options() apply.Options {
	return apply.Options{FieldManager: fieldManager, FormerManagers: []string{formerManager}, Clock: s.clock}
}

// restart replaces the engine by one without memory, and the cache by an up-to-date one.
func (s *sequence) restart() error {
	shown := newCache()
	s.client = &engineClient{Client: s.oracle.client, cache: shown}
	engine, err := engine.New(s.client, liveReader{s.client}, s.options())
	if err != nil {
		return fmt.Errorf("oracle: %w", err)
	}
	s.engine = engine
	for _, c := range s.children {
		c.lost, c.checked = nil, false
		if err := s.refresh(c); err != nil {
			return err
		}
	}
	return nil
}

// refresh reads the child from the API server and shows it in the cache.
func (s *sequence) refresh(c *child) error {
	o, err := s.read(c)
	if err != nil {
		return err
	}
	if o != nil && s.transform != nil {
		if _, err := s.transform(o); err != nil {
			return fmt.Errorf("transform: %w", err)
		}
	}
	s.client.cache.show(c.kind.gvk, c.key, o)
	return nil
}

// read reads the child from the API server.
func (s *sequence) read(c *child) (client.Object, error) {
	o := c.kind.newObject(c.now.form)
	err := s.oracle.client.Get(s.ctx, c.key, o)
	if apierrors.IsNotFound(err) {
		c.live = nil
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", c.kind.gvk.Kind, c.key, err)
	}
	o.GetObjectKind().SetGroupVersionKind(c.kind.gvk)
	c.live = jsonOf(o)
	return o, nil
}

// clean deletes the objects of the sequence.
func (s *sequence) clean() {
	for _, c := range s.children {
		s.remove(c)
	}
	s.removeNeighbour()
	_ = client.IgnoreNotFound(s.oracle.client.Delete(s.ctx, s.owner))
}

// remove deletes the child and its finalizers, because no controller removes the protection of a volume.
func (s *sequence) remove(c *child) {
	_ = s.oracle.client.Delete(s.ctx, c.reference(), client.PropagationPolicy(metav1.DeletePropagationBackground))
	if c.kind.gvk.Kind == "PersistentVolumeClaim" {
		none := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		_ = s.oracle.client.Patch(s.ctx, c.reference(), none)
	}
}

// stripManagedFields is a common transform of caches to save memory.
func stripManagedFields(in any) (any, error) {
	if o, ok := in.(client.Object); ok {
		o.SetManagedFields(nil)
	}
	return in, nil
}

func full(value any) string {
	out, _ := jsonText(value)
	return out
}
