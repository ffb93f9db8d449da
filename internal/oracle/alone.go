package oracle

import (
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

// leavesAlone checks that a pass has not changed an object that is created once, or the fields that are sent once.
func (s *sequence) leavesAlone(c *child, before map[string]any, sent []string) {
	if before == nil || c.live == nil || s.broken != "" {
		return
	}
	if c.mode == apply.Once && wroteTo(sent, c) && !reflect.DeepEqual(withoutMarks(before), withoutMarks(c.live)) {
		s.fail("created once", "it exists, and the engine changes more than its owner reference and labels", "before: "+full(before), "after: "+full(c.live))
		return
	}
	for _, path := range c.sentOnce() {
		then, now := map[string]any{}, map[string]any{}
		copyPath(then, before, path)
		copyPath(now, c.live, path)
		if hasValue(then) && sameObject(before, c.live) && !reflect.DeepEqual(then, now) {
			s.fail("sent once", path+" had a value and has another one: "+full(then)+" -> "+full(now), "before: "+full(before), "after: "+full(c.live))
			return
		}
	}
}

// noteRestored notes whether the object was just restored. The engine knows nothing of a new object.
func (c *child) noteRestored(description string) {
	c.unproven = ""
	if !strings.HasPrefix(description, restored) || c.live == nil {
		return
	}
	c.lost = nil
	if c.mode != apply.Contribute && c.mode != apply.Once {
		c.unproven = versionOf(c.live)
	}
}

// leavesRestored checks that a pass has not changed an object that was restored without the proof that the engine made it, until the plan or
// another client does.
func (s *sequence) leavesRestored(c *child) {
	if c.unproven == "" || s.broken != "" {
		return
	}
	if c.live == nil || versionOf(c.live) != c.unproven {
		s.fail("restored object", c.key.Name+" was changed or deleted without a proof", "live: "+full(c.live))
	}
}

// versionOf returns the resourceVersion of an object; empty if there is none.
func versionOf(o map[string]any) string {
	return (&unstructured.Unstructured{Object: o}).GetResourceVersion()
}

// withoutMarks returns the object without the marks of a child, which are kept even on an object that is created once: the label of the
// set and the owner references. It also omits fields that change with every write.
func withoutMarks(o map[string]any) map[string]any {
	out := runtime.DeepCopyJSON(o)
	for _, field := range []string{"ownerReferences", "managedFields", "resourceVersion"} {
		unstructured.RemoveNestedField(out, "metadata", field)
	}
	unstructured.RemoveNestedField(out, "metadata", "labels", apply.PartOfLabel)
	if labels, _, _ := unstructured.NestedMap(out, "metadata", "labels"); len(labels) == 0 {
		unstructured.RemoveNestedField(out, "metadata", "labels")
	}
	return out
}

// sentOnce returns the paths of the fields that are sent once.
func (c *child) sentOnce() []string {
	var out []string
	for _, rule := range c.now.rules {
		if rule.Policy == policy(apply.CreateOnly) {
			out = append(out, rule.Path)
		}
	}
	return out
}

// hasValue reports whether a copied path has a value. Empty lists and objects have no owner, and the API server drops them.
func hasValue(m map[string]any) bool { return len(withoutHollow(m)) > 0 }

// kept returns the paths of the fields that are sent once and that the object has.
func (c *child) kept() []string {
	var out []string
	for _, path := range c.sentOnce() {
		part := map[string]any{}
		if copyPath(part, c.live, path); hasValue(part) {
			out = append(out, path)
		}
	}
	return out
}

// keeping returns the intent with the values of the object at the paths.
func (i *intent) keeping(paths []string, live map[string]any) *intent {
	if len(paths) == 0 {
		return i
	}
	body := parse(i.body)
	for _, path := range paths {
		putPath(body, live, path)
	}
	data, _ := jsonText(body)
	return &intent{body: []byte(data), manager: i.manager}
}

// withoutOwned returns the object without the managers' ownership of the paths: a manager that repeats another's value owns it, too.
func withoutOwned(o map[string]any, paths []string) map[string]any {
	if len(paths) == 0 {
		return o
	}
	o = runtime.DeepCopyJSON(o)
	metadata, _ := o["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	kept := make([]any, 0, len(entries))
	for _, entry := range entries {
		e, _ := entry.(map[string]any)
		fields, _ := e["fieldsV1"].(map[string]any)
		for _, path := range paths {
			removeFields(fields, fieldNames(path))
		}
		if len(fields) > 0 {
			kept = append(kept, entry)
		}
	}
	if metadata != nil {
		metadata["managedFields"] = kept
	}
	return o
}

// removeFields removes the owned fields and empty parents.
func removeFields(fields map[string]any, names []string) {
	below, ok := fields["f:"+names[0]].(map[string]any)
	if !ok {
		return
	}
	if len(names) > 1 {
		removeFields(below, names[1:])
	}
	if len(names) == 1 || len(below) == 0 {
		delete(fields, "f:"+names[0])
	}
}

// sameObject reports whether two versions are of one object.
func sameObject(a, b map[string]any) bool {
	before, _ := a["metadata"].(map[string]any)
	after, _ := b["metadata"].(map[string]any)
	return before["uid"] == after["uid"]
}

// neighbour is another controller's object that looks like a child: it has copied or inherited labels of one.
type neighbour struct {
	kind   *Kind
	key    client.ObjectKey
	object map[string]any
}

// addNeighbour creates an object with the labels of a child.
func (s *sequence) addNeighbour() error {
	c := s.children[0]
	if s.neighbour != nil || c.live == nil {
		return nil
	}
	o := &unstructured.Unstructured{Object: c.kind.base(s.random)}
	o.SetGroupVersionKind(c.kind.gvk)
	o.SetNamespace(c.key.Namespace)
	o.SetName(s.owner.Name + "-neighbour")
	marked := &unstructured.Unstructured{Object: c.live}
	o.SetLabels(marked.GetLabels())
	forged := s.random.IntN(2) == 0
	if forged {
		o.SetOwnerReferences(marked.GetOwnerReferences())
	}
	if err := s.oracle.client.Create(s.ctx, o, client.FieldOwner("neighbour")); err != nil {
		return fmt.Errorf("create a neighbour: %w", err)
	}
	s.neighbour = &neighbour{kind: c.kind, key: client.ObjectKeyFromObject(o), object: o.Object}
	shown := o.DeepCopy()
	if s.transform != nil {
		if _, err := s.transform(shown); err != nil {
			return fmt.Errorf("transform: %w", err)
		}
	}
	s.client.cache.show(c.kind.gvk, s.neighbour.key, shown)
	s.record("   a %s of another controller has the labels of %s, and its references: %t", c.kind.gvk.Kind, c.key.Name, forged)
	return nil
}

// withdraw removes the children from the plan, and checks that no other object is deleted.
func (s *sequence) withdraw() error {
	if err := s.addNeighbour(); err != nil || s.neighbour == nil {
		return err
	}
	s.record("   the plan is empty")
	theirs := map[*child]bool{}
	for _, c := range s.children {
		theirs[c] = c.mode == apply.Contribute && c.live != nil
	}
	for range failingPasses {
		result := s.engine.Apply(s.ctx, s.owner, apply.Plan{Policy: apply.Withdraw})
		s.record("   pass: %s %v", outcomes(result), s.client.take())
		for _, c := range s.children {
			if err := s.refresh(c); err != nil {
				return err
			}
		}
	}
	for _, c := range s.children {
		if theirs[c] && c.live == nil {
			s.fail("foreign object", c.key.Name+" belongs to another owner and was deleted")
		}
	}
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(s.neighbour.kind.gvk)
	if err := s.oracle.client.Get(s.ctx, s.neighbour.key, o); client.IgnoreNotFound(err) != nil {
		return err
	}
	if !reflect.DeepEqual(o.Object, s.neighbour.object) {
		s.fail("foreign object", "before: "+full(s.neighbour.object), "after: "+full(o.Object))
	}
	return nil
}

// removeNeighbour deletes the neighbour at the end of the sequence.
func (s *sequence) removeNeighbour() {
	if s.neighbour == nil {
		return
	}
	o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: s.neighbour.key.Name, Namespace: s.neighbour.key.Namespace}}
	o.SetGroupVersionKind(s.neighbour.kind.gvk)
	_ = s.oracle.client.Delete(s.ctx, o)
}
