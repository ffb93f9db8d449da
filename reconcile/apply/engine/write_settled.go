package engine

import (
	"hash/maphash"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

// settledQuestions remembers for which plans of existing objects the API server has no other defaults, so that the same change of many
// owners costs one dry run. A question consists of the kind, the plan, and the fields without a manager. Names and other free text do not
// influence defaults, but whether two of them are the same does: they count as their position. The zero value is ready.
type settledQuestions struct {
	mu   sync.Mutex
	seed maphash.Seed
	seen map[uint64]struct{}
}

// maxSettled is the number of questions that are remembered.
const maxSettled = 4096

// question returns the hash of a question.
func (s *settledQuestions) question(gvk schema.GroupVersionKind, content map[string]any, unowned []fieldset.Place) uint64 {
	s.mu.Lock()
	if s.seen == nil {
		s.seed, s.seen = maphash.MakeSeed(), map[uint64]struct{}{}
	}
	s.mu.Unlock()
	w := questionWriter{texts: map[string]int{}}
	w.hash.SetSeed(s.seed)
	w.write(gvk.String())
	for _, name := range slices.Sorted(maps.Keys(content)) {
		if name != "metadata" {
			w.write(name)
			w.value(name, content[name])
		}
	}
	for i := range unowned {
		w.write(unowned[i].Text)
		w.value("", unowned[i].Value)
	}
	return w.hash.Sum64()
}

func (s *settledQuestions) has(question uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, seen := s.seen[question]
	return seen
}

func (s *settledQuestions) add(question uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) >= maxSettled {
		clear(s.seen)
	}
	s.seen[question] = struct{}{}
}

// questionWriter hashes JSON values.
type questionWriter struct {
	hash  maphash.Hash
	texts map[string]int
}

func (w *questionWriter) write(text string) {
	_, _ = w.hash.WriteString(text)
	_ = w.hash.WriteByte(0)
}

func (w *questionWriter) value(name string, value any) {
	switch x := value.(type) {
	case map[string]any:
		w.write("{")
		for _, key := range slices.Sorted(maps.Keys(x)) {
			w.write(key)
			w.value(key, x[key])
		}
		w.write("}")
	case []any:
		w.write("[")
		for i := range x {
			w.value(name, x[i])
		}
		w.write("]")
	case string:
		w.text(name, x)
	default:
		maphash.WriteComparable(&w.hash, x)
	}
}

// constant matches the values of enumerations, such as TCP and RollingUpdate.
var constant = regexp.MustCompile(`^([A-Z][A-Za-z0-9]*)?$`) //nolint:gochecknoglobals // a constant

// text writes a constant or an image, whose tag has a meaning, as it is, and other text as its position.
func (w *questionWriter) text(name, text string) {
	if name == "image" || constant.MatchString(text) {
		w.write("=" + text)
		return
	}
	position, known := w.texts[text]
	if !known {
		position = len(w.texts)
		w.texts[text] = position
	}
	w.write("#" + strconv.Itoa(position))
}
