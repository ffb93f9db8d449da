package observe

import (
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// maxFailures bounds the texts of failed lists in the reason of a cache that is not synced.
const maxFailures = 3

// ListFailures remembers why kinds could not be listed or watched: the caches themselves only say that they are not synced. The options
// of [CacheOptions] fill it. It is safe for concurrent use, and the zero value is ready.
type ListFailures struct {
	mu     sync.Mutex
	latest []listFailure
	counts map[string]int // by kind
}

type listFailure struct {
	of  string // the kind, as a reflector prints it
	err error
}

// Note remembers the latest failure of a kind.
func (l *ListFailures) Note(of string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.latest = slices.DeleteFunc(l.latest, func(f listFailure) bool { return f.of == of })
	if len(l.latest) == maxFailures {
		l.latest = slices.Delete(l.latest, 0, 1)
	}
	l.latest = append(l.latest, listFailure{of, err})
	if ends(err) {
		return
	}
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	l.counts[kindName(of)]++
}

// ends reports whether a watch has come to one of its usual ends, after which another one starts.
func ends(err error) bool {
	return errors.Is(err, io.EOF) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
}

// kindName is the kind in what a reflector prints: a Go type such as *v1.Service, or "apps/v1, Kind=Deployment".
func kindName(of string) string {
	if _, kind, found := strings.Cut(of, "Kind="); found {
		return kind
	}
	return of[strings.LastIndex(of, ".")+1:]
}

// byKind counts the failures.
func (l *ListFailures) byKind() map[string]int {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.counts)
}

// Last joins the latest failures; nil when there are none.
func (l *ListFailures) Last() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.Clone(l.latest)
	slices.SortFunc(list, func(a, b listFailure) int { return strings.Compare(a.of, b.of) }) // the same text for the same causes
	errs := make([]error, len(list))
	for i, f := range list {
		errs[i] = f.err
	}
	return errors.Join(errs...)
}
