package status_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/status"
)

const (
	formerManager  = "old-operator"
	foreignManager = "somebody"
)

// subject is an object of one of the kinds, with helpers that write its status.
type subject struct {
	*world
	key  client.ObjectKey
	kind string
	// shortened reports whether the writer reads managedFields in the shortened form of the cache.
	shortened bool
}

func (w *world) subject(kind string) *subject {
	GinkgoHelper()
	s := &subject{world: w, kind: kind, key: client.ObjectKey{Namespace: w.namespace, Name: "subject"}}
	created := s.empty()
	created.Object["spec"] = map[string]any{"message": "x"} // the API server keeps no managedFields of an object without content
	Expect(w.admin.Create(w.ctx, created)).To(Succeed())
	return s
}

func (s *subject) empty() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(widget.GroupVersion.WithKind(s.kind))
	u.SetNamespace(s.key.Namespace)
	u.SetName(s.key.Name)
	return u
}

func (s *subject) read() *unstructured.Unstructured {
	GinkgoHelper()
	u := s.empty()
	Expect(s.admin.Get(s.ctx, s.key, u)).To(Succeed())
	return u
}

func (s *subject) status() map[string]any {
	GinkgoHelper()
	content, _, err := unstructured.NestedMap(s.read().Object, "status")
	Expect(err).NotTo(HaveOccurred())
	return content
}

// conditions returns the types of the stored conditions.
func (s *subject) conditions() []string {
	GinkgoHelper()
	types := []string{}
	stored, _ := s.status()["conditions"].([]any)
	for _, c := range stored {
		types = append(types, c.(map[string]any)["type"].(string))
	}
	return types
}

func conditionContent(kind string) map[string]any {
	return map[string]any{
		"type": kind, "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2024-01-01T00:00:00Z",
	}
}

// write stores a status as another field manager.
func (s *subject) write(manager string, patch types.PatchType, content map[string]any) {
	GinkgoHelper()
	u := s.empty()
	body := map[string]any{"status": content}
	options := []client.SubResourcePatchOption{client.FieldOwner(manager)}
	if patch == types.ApplyPatchType {
		body["apiVersion"], body["kind"] = u.GetAPIVersion(), u.GetKind()
		options = append(options, client.ForceOwnership)
	}
	data, err := json.Marshal(body)
	Expect(err).NotTo(HaveOccurred())
	Expect(s.admin.Status().Patch(s.ctx, u, client.RawPatch(patch, data), options...)).To(Succeed())
}

// pass changes the stored status and writes it with a new writer.
func (s *subject) pass(change func(content map[string]any), managed ...string) {
	GinkgoHelper()
	Expect(s.tryPass(change, managed...)).To(Succeed())
}

func (s *subject) tryPass(change func(content map[string]any), managed ...string) error {
	GinkgoHelper()
	before := s.read()
	if s.shortened {
		_, err := apply.ShortenManagedFields(manager, formerManager)(before)
		Expect(err).NotTo(HaveOccurred())
	}
	after := before.DeepCopy()
	content, _, err := unstructured.NestedMap(after.Object, "status")
	Expect(err).NotTo(HaveOccurred())
	if content == nil {
		content = map[string]any{}
	}
	change(content)
	after.Object["status"] = content
	_, err = s.writer.WriteStatus(s.ctx, before, after, managed)
	return err
}

// settles runs pass five times and expects at most this many writes, all of them in the first run.
func (s *subject) settles(writes int, change func(content map[string]any), managed ...string) {
	GinkgoHelper()
	s.sent()
	for i := range 5 {
		s.pass(change, managed...)
		if i > 0 {
			writes = 0
		}
		Expect(s.sent()).To(Equal(writes), "pass %d", i+1)
		s.writer = s.newWriter(manager, formerly)
	}
}

func formerly(o *status.Options) { o.FormerManagers = []string{formerManager} }

// setCondition sets the condition of a type in the content and removes the types in out.
func setCondition(content map[string]any, kind string, out ...string) {
	conditions := []any{conditionContent(kind)}
	stored, _ := content["conditions"].([]any)
	for _, c := range stored {
		name := c.(map[string]any)["type"].(string)
		gone := name == kind
		for _, other := range out {
			gone = gone || name == other
		}
		if !gone {
			conditions = append(conditions, c)
		}
	}
	content["conditions"] = conditions
}

// earlier lists the writers of the status before this controller.
var earlier = []struct {
	name, manager string
	patch         types.PatchType
	ours          bool
}{
	{"a former manager by update", formerManager, types.MergePatchType, true},
	{"a former manager by apply", formerManager, types.ApplyPatchType, true},
	{"the same name by update", manager, types.MergePatchType, true},
	{"another manager by update", foreignManager, types.MergePatchType, false},
	{"another manager by apply", foreignManager, types.ApplyPatchType, false},
}

var _ = Describe("A status with earlier writers", func() {
	for _, kind := range []string{"Keyed", "Atomic", "Plain"} {
		for _, by := range earlier {
			for _, shortened := range []bool{false, true} {
				It(fmt.Sprintf("of a %s, by %s (managedFields shortened: %v), is replaced where former managers wrote it", kind, by.name, shortened), func() {
					for name, wanted := range map[string]any{"left out": nil, "changed": int64(5), "same": int64(7)} {
						By("a field that is " + name)
						w := newWorld(formerly)
						s := w.subject(kind)
						s.shortened = shortened
						content := map[string]any{"count": int64(7), "message": "theirs", "nested": map[string]any{"theirs": "1"}}
						if kind != "Plain" {
							content["conditions"] = []any{conditionContent("Old"), conditionContent("Older")}
						}
						s.write(by.manager, by.patch, content)
						writes := 0
						if kind != "Plain" || wanted == int64(5) || (wanted == nil && by.ours) {
							writes = 1
						}
						s.settles(writes, func(content map[string]any) {
							content["count"] = wanted
							if wanted == nil {
								delete(content, "count")
								delete(content, "nested")
							}
							if kind == "Plain" {
								return
							}
							if by.ours {
								setCondition(content, "Ready", "Old", "Older")
							} else {
								setCondition(content, "Ready")
							}
						}, "Ready")
						stored := s.status()
						if wanted == nil && !by.ours {
							wanted = int64(7)
						}
						if wanted == nil {
							Expect(stored).NotTo(HaveKey("count"))
							Expect(stored).NotTo(HaveKey("nested"))
						} else {
							Expect(stored).To(HaveKeyWithValue("count", wanted))
							Expect(stored).To(HaveKeyWithValue("nested", map[string]any{"theirs": "1"}))
						}
						Expect(stored).To(HaveKeyWithValue("message", "theirs"))
						switch {
						case kind == "Plain":
						case by.ours:
							Expect(s.conditions()).To(ConsistOf("Ready"))
						default:
							Expect(s.conditions()).To(ConsistOf("Ready", "Old", "Older"))
						}
					}
				})
			}
		}
	}

	It("keeps the fields that another writer continues to change", func() {
		for _, patch := range []types.PatchType{types.MergePatchType, types.ApplyPatchType} {
			w := newWorld()
			s := w.subject("Keyed")
			s.shortened = true
			change := func(content map[string]any) {
				content["count"] = int64(1)
				delete(content, "message")
				setCondition(content, "Ready")
			}
			s.pass(change, "Ready")
			s.sent()
			for i := range 5 {
				conditions := []any{conditionContent("Theirs")}
				if patch == types.MergePatchType { // replaces the list
					conditions = append(conditions, conditionContent("Ready"))
				}
				s.write(foreignManager, patch, map[string]any{
					"message": fmt.Sprint(i), "nested": map[string]any{"theirs": fmt.Sprint(i)}, "conditions": conditions,
				})
				s.pass(change, "Ready")
				Expect(s.sent()).To(BeZero())
			}
			Expect(s.status()).To(HaveKeyWithValue("message", "4"))
		}
	})

	It("keeps a removed condition unchanged if another manager changed it", func() {
		for _, patch := range []types.PatchType{types.MergePatchType, types.ApplyPatchType} {
			for _, shortened := range []bool{false, true} {
				By(fmt.Sprintf("%s, managedFields shortened: %v", patch, shortened))
				w := newWorld()
				s := w.subject("Keyed")
				s.shortened = shortened
				s.pass(func(content map[string]any) {
					content["conditions"] = []any{conditionContent("Ready"), conditionContent("Extra")}
				}, "Ready", "Extra")
				theirs := conditionContent("Extra")
				theirs["status"], theirs["lastTransitionTime"] = "False", "2024-02-02T00:00:00Z"
				changed := []any{theirs}
				if patch == types.MergePatchType { // replaces the list
					changed = append(changed, conditionContent("Ready"))
				}
				s.write(foreignManager, patch, map[string]any{"conditions": changed})
				s.sent()
				s.settles(0, func(content map[string]any) { setCondition(content, "Ready", "Extra") }, "Ready")
				s.settles(1, func(content map[string]any) {
					content["count"] = int64(3)
					setCondition(content, "Ready", "Extra")
				}, "Ready")
				Expect(s.status()["conditions"]).To(ConsistOf(conditionContent("Ready"), theirs))
			}
		}
	})

	It("keeps a field that another manager sets to the same value", func() {
		w := newWorld()
		s := w.subject("Keyed")
		s.shortened = true
		set := func(content map[string]any) { content["count"] = int64(1); setCondition(content, "Ready") }
		s.pass(set, "Ready")
		s.write(foreignManager, types.ApplyPatchType, map[string]any{"count": int64(1)})
		s.sent()
		s.settles(1, func(content map[string]any) { delete(content, "count"); setCondition(content, "Ready") }, "Ready")
		Expect(s.status()).To(HaveKeyWithValue("count", int64(1)))
	})

	It("is restored when another writer clears or changes it", func() {
		for _, kind := range []string{"Keyed", "Atomic", "Plain"} {
			w := newWorld()
			s := w.subject(kind)
			set := func(content map[string]any) {
				content["count"] = int64(1)
				if kind != "Plain" {
					setCondition(content, "Ready")
				}
			}
			s.pass(set, "Ready")
			wiped := s.read()
			wiped.Object["status"] = map[string]any{}
			Expect(w.admin.Status().Update(w.ctx, wiped, client.FieldOwner(foreignManager))).To(Succeed())
			Expect(s.status()).NotTo(HaveKey("count"))
			s.settles(1, set, "Ready")
			Expect(s.status()).To(HaveKeyWithValue("count", int64(1)))
			s.write(foreignManager, types.MergePatchType, map[string]any{"count": int64(2)})
			s.settles(1, set, "Ready")
			Expect(s.status()).To(HaveKeyWithValue("count", int64(1)))
		}
	})
})

var _ = Describe("A change that the API server does not store", func() {
	It("is not sent repeatedly", func() {
		w := newWorld()
		s := w.subject("Plain")
		for range 5 {
			s.pass(func(content map[string]any) { content["unknownToTheSchema"] = "x" })
		}
		Expect(s.sent()).To(Equal(1))
		By("storing a change of another field")
		for range 3 {
			s.pass(func(content map[string]any) { content["unknownToTheSchema"], content["count"] = "x", int64(2) })
		}
		Expect(s.sent()).To(Equal(1))
		Expect(s.status()).To(HaveKeyWithValue("count", int64(2)))
		By("sending it again after five minutes")
		w.clock.SetTime(w.clock.Now().Add(5 * time.Minute))
		for range 3 {
			s.pass(func(content map[string]any) { content["unknownToTheSchema"], content["count"] = "x", int64(2) })
		}
		Expect(s.sent()).To(Equal(1))
	})
})

var _ = Describe("A status that another writer changes after each write", func() {
	It("is written at most five times in five minutes", func() {
		for _, kind := range []string{"Keyed", "Atomic", "Plain"} {
			w := newWorld()
			s := w.subject(kind)
			fight := func() {
				for i := range 20 {
					s.write(foreignManager, types.MergePatchType, map[string]any{"count": int64(7)})
					s.pass(func(content map[string]any) {
						content["count"] = int64(1)
						if kind != "Plain" {
							setCondition(content, "Ready")
						}
					}, "Ready")
					w.clock.SetTime(w.clock.Now().Add(time.Duration(i) * time.Millisecond))
				}
			}
			fight()
			Expect(s.sent()).To(BeNumerically("<=", 6))
			w.clock.SetTime(w.clock.Now().Add(5 * time.Minute))
			fight()
			Expect(s.sent()).To(Equal(5))
			By("storing another change immediately")
			s.pass(func(content map[string]any) { content["count"] = int64(2) }, "Ready")
			Expect(s.status()).To(HaveKeyWithValue("count", int64(2)))
		}
	})
})

var _ = Describe("A kind without the status subresource", func() {
	It("is reported in the error, with the missing subresource", func() {
		w := newWorld()
		s := w.subject("Bare")
		err := s.tryPass(func(content map[string]any) { content["count"] = int64(1) })
		var missing *status.NoSubresourceError
		Expect(err).To(MatchError(And(ContainSubstring("Bare"), ContainSubstring("subresources: {status: {}}"))))
		Expect(errors.As(err, &missing)).To(BeTrue())
		Expect(missing.GVK.Kind).To(Equal("Bare"))
	})

	It("is distinguished from a deleted object", func() {
		w := newWorld()
		before := w.stored()
		Expect(w.admin.Delete(w.ctx, w.stored())).To(Succeed())
		after := copyOf(before)
		after.Status.Count = 1
		_, err := w.writer.WriteStatus(w.ctx, before, after, nil)
		Expect(client.IgnoreNotFound(err)).To(Succeed())
		Expect(err).To(HaveOccurred())
	})
})
