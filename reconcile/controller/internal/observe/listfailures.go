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

// maxFailures limits the texts of failed lists in the reason of a cache that is not synced.
const maxFailures = 3

// ListFailures records why kinds could not be listed or watched, because caches report only that they are not synced. The options
// of [CacheOptions] fill it. It is safe for concurrent use. The zero value is ready.
type ListFailures struct {
	mu     sync.Mutex
	latest []listFailure
	counts map[string]int // by kind
}

type listFailure struct {
	of  string // the kind, as a reflector prints it
	err error
}

// Note records the latest failure of a kind.
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

// ends reports whether the error is a normal end of a watch, after which the reflector starts another one.
func ends(err error) bool {
	return errors.Is(err, io.EOF) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
}

// kindName returns the kind from the text of a reflector: a Go type such as *v1.Service, or "apps/v1, Kind=Deployment".
func kindName(of string) string {
	if _, kind, found := strings.Cut(of, "Kind="); found {
		return kind
	}
	return of[strings.LastIndex(of, ".")+1:]
}

// byKind returns the number of failures of each kind.
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
	slices.SortFunc(list, func(a, b listFailure) int { return strings.Compare(a.of, b.of) }) // a stable text
	errs := make([]error, len(list))
	for i, f := range list {
		errs[i] = f.err
	}
	return errors.Join(errs...)
}
