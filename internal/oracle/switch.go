package oracle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/reconcilekit/reconcilekit/internal/oracle/shape"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/engine"
)

// The origins of the object whose plan changes.
const (
	planned = "planned" // the engine created it from the first plan
	former  = "former"  // a former field manager created it; the engine never saw the first plan
	adopted = "adopted" // another client created it; the engine adopts it with the first plan
)

// creator is the client that creates the objects that the engine adopts.
const creator = "creator"

// pair is a change from one plan of an object to another one.
type pair struct {
	kind   *Kind
	name   string
	origin string
	form   Form
	seed   uint64
	a, b   map[string]any
}

func (p *pair) String() string {
	return fmt.Sprintf("%s %s, %s, as %s\nfrom %s\nto   %s", p.kind.gvk.Kind, p.name, p.origin, p.form, full(p.a), full(p.b))
}

// Switch changes the plan of one object and compares the result with an object that is created from the second plan. It returns the text of
// a difference that is not known, empty for none. An error is about the environment, not the engine.
func (o *Oracle) Switch(ctx context.Context, number int) (string, error) {
	r := rand.New(rand.NewPCG(o.seed, uint64(number))) //nolint:gosec // to be repeated
	p := o.pair(r, number)
	s := &switching{oracle: o, ctx: ctx, pair: p}
	if err := errors.Join(s.own(), s.open()); err != nil {
		return "", err
	}
	defer s.clean()
	switch right, err := s.begin(); {
	case err != nil:
		return "", err
	case !right:
		o.Switches.add(p.kind, "invalid")
		return "", nil
	}
	result, quiet := s.settle(p.b, p.adoption())
	changed, err := s.read()
	if err != nil {
		return "", err
	}
	s.remove()
	fresh, err := s.fresh()
	if err != nil || fresh == nil {
		o.Switches.add(p.kind, "invalid")
		return "", err
	}
	found := s.judge(result, quiet, changed, fresh)
	if len(found) == 0 {
		return "", nil
	}
	return fmt.Sprintf("seed %d pair %d; repeat with ORACLE_SEED=%d SWITCH_PAIR=%d:\n%s\n%s", o.seed, number, o.seed, number, p, strings.Join(found, "\n")), nil
}

// switching is one pair on the API server.
type switching struct {
	*pair
	oracle    *Oracle
	ctx       context.Context //nolint:containedctx // lives as long as the pair
	owner     client.Object
	namespace string
	client    *engineClient
	engine    *engine.Engine
	clock     *testingclock.FakeClock
}

// own creates the owner of a namespaced object. A cluster-scoped object belongs to a namespace.
func (s *switching) own() error {
	namespace := s.oracle.owners[s.seed%uint64(len(s.oracle.owners))]
	namespaced, err := s.oracle.client.IsObjectNamespaced(s.kind.newObject(Unstructured))
	if err != nil {
		return fmt.Errorf("oracle: %w", err)
	}
	if s.owner = namespace; namespaced {
		s.namespace = namespace.GetName()
		s.owner = &widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: s.name, Namespace: s.namespace}}
		err = s.oracle.client.Create(s.ctx, s.owner)
	}
	if err != nil {
		return fmt.Errorf("create the owner: %w", err)
	}
	return nil
}

// open starts an engine without memory.
func (s *switching) open() (err error) {
	s.clock = testingclock.NewFakeClock(begin)
	s.client = &engineClient{Client: s.oracle.client, cache: newCache()}
	options := apply.Options{FieldManager: fieldManager, Clock: s.clock}
	if s.origin == former {
		options.FormerManagers = []string{formerManager}
	}
	if s.engine, err = engine.New(s.client, liveReader{s.client}, options); err != nil {
		return fmt.Errorf("oracle: %w", err)
	}
	return nil
}

func (s *switching) key() client.ObjectKey {
	return client.ObjectKey{Namespace: s.namespace, Name: s.name}
}

// begin brings the object to the first plan. It reports whether the API server accepts both plans.
func (s *switching) begin() (bool, error) {
	for _, content := range []map[string]any{s.b, s.a} {
		o, err := s.object(content)
		if err != nil || s.oracle.client.Create(s.ctx, o, client.DryRunAll) != nil {
			return false, nil //nolint:nilerr // the pair is invalid
		}
	}
	if s.origin != planned {
		if s.create() != nil {
			return false, nil //nolint:nilerr // as above: a dry run does not check every port
		}
		if _, err := s.read(); err != nil || s.origin == former {
			return err == nil, err
		}
	}
	result, quiet := s.settle(s.a, s.adoption())
	return quiet && result.Err() == nil, nil
}

// create creates the object of the first plan as the former manager, or as a client that does not know the engine.
func (s *switching) create() error {
	o, err := s.object(s.a)
	by := creator
	if s.origin == former && err == nil {
		by, err = formerManager, controllerutil.SetControllerReference(s.owner, o, s.oracle.client.Scheme())
	}
	if err != nil {
		return fmt.Errorf("oracle: %w", err)
	}
	return s.oracle.client.Create(s.ctx, o, client.FieldOwner(by))
}

func (p *pair) adoption() apply.Adoption {
	if p.origin == adopted {
		return apply.AdoptUncontrolled
	}
	return 0
}

// object returns the content as an unstructured object.
func (s *switching) object(content map[string]any) (*unstructured.Unstructured, error) {
	child, err := s.kind.object(content, s.form, s.key(), s.seed)
	if err != nil {
		return nil, err
	}
	from := any(child.Object)
	if child.Configuration != nil {
		from = child.Configuration
	}
	u := &unstructured.Unstructured{Object: jsonOf(from)}
	u.SetGroupVersionKind(s.kind.gvk)
	return u, nil
}

// settle runs passes until nothing is sent, and reports whether that happened. A child that fails is tried twice.
func (s *switching) settle(content map[string]any, adoption apply.Adoption) (apply.Result, bool) {
	var result apply.Result
	for n := range mostPasses {
		child, err := s.kind.object(content, s.form, s.key(), s.seed)
		if err != nil {
			return result, false
		}
		child.Adoption = adoption
		owner, _ := s.owner.DeepCopyObject().(client.Object)
		result = s.engine.Apply(s.ctx, owner, setOf(child))
		sent := s.client.take()
		if _, err := s.read(); err != nil {
			return result, false
		}
		if len(sent) == 0 || n >= failingPasses && fails(result) {
			return result, true
		}
		if fails(result) {
			s.clock.Step(time.Hour)
		}
	}
	return result, false
}

// read reads the object and shows it in the cache. It returns nil if there is none.
func (s *switching) read() (map[string]any, error) {
	o := s.kind.newObject(s.form)
	err := s.oracle.client.Get(s.ctx, s.key(), o)
	if apierrors.IsNotFound(err) {
		s.client.cache.show(s.kind.gvk, s.key(), nil)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", s.kind.gvk.Kind, s.name, err)
	}
	o.GetObjectKind().SetGroupVersionKind(s.kind.gvk)
	s.client.cache.show(s.kind.gvk, s.key(), o)
	return jsonOf(o), nil
}

// fresh returns the object that an engine without memory creates from the second plan, nil if that fails.
func (s *switching) fresh() (map[string]any, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	if result, quiet := s.settle(s.b, 0); !quiet || result.Err() != nil {
		return nil, nil //nolint:nilerr // the caller skips a plan that cannot be created
	}
	return s.read()
}

// clean deletes the object and its owner.
func (s *switching) clean() {
	s.remove()
	if s.namespace != "" {
		_ = s.oracle.client.Delete(s.ctx, s.owner)
	}
}

// remove deletes the object, with the finalizers that no controller removes here.
func (s *switching) remove() {
	o := s.kind.newObject(Unstructured)
	o.SetName(s.name)
	o.SetNamespace(s.namespace)
	if client.IgnoreNotFound(s.oracle.client.Delete(s.ctx, o, client.PropagationPolicy(metav1.DeletePropagationBackground))) == nil && s.kind.gvk.Kind == "PersistentVolumeClaim" {
		_ = s.oracle.client.Patch(s.ctx, o, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
	}
	const every, most = 20 * time.Millisecond, 20 * time.Second // a definition goes after its objects
	_ = wait.PollUntilContextTimeout(s.ctx, every, most, true, func(ctx context.Context) (bool, error) {
		return apierrors.IsNotFound(s.oracle.client.Get(ctx, s.key(), o)), nil
	})
}

// judge returns the differences that are not known.
func (s *switching) judge(result apply.Result, quiet bool, changed, fresh map[string]any) []string {
	kind := s.kind.gvk.Kind
	if !quiet {
		return []string{fmt.Sprintf("%d passes without reaching steady state: %v", mostPasses, result.Err())}
	}
	if err := result.Err(); err != nil {
		if why := knownRefusal(s.origin, err); why != "" {
			s.oracle.Switches.add(s.kind, "reported: "+why)
			return nil
		}
		return []string{"the change is refused: " + err.Error()}
	}
	var found []string
	others := map[string][]string{}
	if s.origin == adopted {
		for _, path := range ownedBy(changed, false) {
			others[strings.Join(namesIn(changed, path), " ")] = path
		}
	}
	outcome := "equal"
	unlike(nil, newlyComparable(changed), newlyComparable(fresh), func(path []string, have, want any) {
		if overlaps(others, strings.Join(path, " ")) {
			return // another client owns it
		}
		text := strings.ReplaceAll("."+strings.Join(path, "."), ".[", "[")
		if why := knownDifference(kind, s.origin, text, have, want); why != "" {
			outcome = "differs: " + why
			return
		}
		found = append(found, text+" is "+shape.Text(have)+", created from the plan it is "+shape.Text(want))
	})
	if len(found) == 0 {
		s.oracle.Switches.add(s.kind, outcome)
	}
	return found
}

// unlike reports the differing fields. Lists of the same length are compared item by item.
func unlike(path []string, have, want any, report func(path []string, have, want any)) {
	x, isMap := have.(map[string]any)
	y, bothMaps := want.(map[string]any)
	if isMap && bothMaps {
		names := maps.Clone(x)
		maps.Copy(names, y)
		for _, name := range sorted(names) {
			unlike(append(slices.Clone(path), name), x[name], y[name], report)
		}
		return
	}
	l, isList := have.([]any)
	m, bothLists := want.([]any)
	if isList && bothLists && len(l) == len(m) {
		for i := range l {
			unlike(append(slices.Clone(path), fmt.Sprintf("[%d]", i)), l[i], m[i], report)
		}
		return
	}
	if !reflect.DeepEqual(have, want) {
		report(path, have, want)
	}
}

// namesIn returns a path of managedFields with the positions of list items in the object, as of [unlike]. It ends where the object does.
func namesIn(value any, path []string) []string {
	var out []string
	for _, element := range path {
		switch x := value.(type) {
		case map[string]any:
			name := strings.TrimPrefix(element, "f:")
			out, value = append(out, name), x[name]
		case []any:
			keys := any(parse([]byte(strings.TrimPrefix(element, "k:"))))
			i := slices.IndexFunc(x, func(item any) bool { return hasKeys(item, keys) })
			if i < 0 {
				return append(out, element)
			}
			out, value = append(out, fmt.Sprintf("[%d]", i)), x[i]
		default:
			return out
		}
	}
	return out
}

// newlyComparable returns the object without its status, what identifies one version of it, and the values that the cluster allocates.
func newlyComparable(o map[string]any) map[string]any {
	out := runtime.DeepCopyJSON(o)
	delete(out, "status")
	metadata, _ := out["metadata"].(map[string]any)
	uid, _ := metadata["uid"].(string)
	for _, name := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"} {
		delete(metadata, name)
	}
	if annotations, ok := metadata["annotations"].(map[string]any); ok {
		delete(annotations, "deprecated.daemonset.template.generation") // counts the versions
	}
	hidden, _ := hideAllocated("", out, uid).(map[string]any)
	return hidden
}

func hideAllocated(name string, value any, uid string) any {
	switch x := value.(type) {
	case map[string]any:
		for key := range x {
			x[key] = hideAllocated(key, x[key], uid)
		}
	case []any:
		for i := range x {
			x[i] = hideAllocated(name, x[i], uid)
		}
	case string:
		if (name == "clusterIP" || name == "clusterIPs") && x != "" && x != "None" || uid != "" && x == uid {
			return "allocated"
		}
	case int64:
		if (name == "nodePort" || name == "healthCheckNodePort") && x != 0 {
			return "allocated"
		}
	}
	return value
}

// pair returns a random pair of plans. The second plan is another example of the kind, the first one with other values, or the first one
// without some fields.
func (o *Oracle) pair(r *rand.Rand, number int) *pair {
	kinds := o.switched
	if r.IntN(4) == 0 {
		kinds = o.custom
	}
	k := kinds[r.IntN(len(kinds))]
	forms := k.forms()
	p := &pair{
		kind: k, name: fmt.Sprintf("s%d-%d", o.seed%1000, number), seed: r.Uint64(), form: forms[r.IntN(len(forms))],
		origin: []string{planned, planned, former, adopted}[r.IntN(4)],
	}
	p.a = p.mutate(r, k.base(r), r.IntN(3))
	switch r.IntN(4) {
	case 0:
		p.b = p.mutate(r, p.a, 1+r.IntN(4))
	case 1:
		thin, _ := k.shape.Thin(r, p.a).(map[string]any)
		p.b = p.mutate(r, thin, r.IntN(2))
	default:
		p.b = p.mutate(r, k.base(r), r.IntN(2))
	}
	if r.IntN(16) > 0 {
		p.keepImmutable()
	}
	p.nameDefinition()
	return p
}

func (p *pair) mutate(r *rand.Rand, content map[string]any, times int) map[string]any {
	for range times {
		value, _ := p.kind.shape.Mutate(r, content)
		if m, ok := value.(map[string]any); ok {
			content = m
		}
	}
	return content
}
