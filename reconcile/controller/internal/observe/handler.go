package observe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// errNotSynced is the error of a list of owners before the caches are synced.
var errNotSynced = errors.New("no list of owners")

// explainTimeout limits an answer over HTTP, which reads only from memory.
const explainTimeout = 10 * time.Second

// Handler serves explanations of the explainers. It calls explainers for each answer.
func Handler(explainers func() []*Explainer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.Error(w, "only GET", http.StatusMethodNotAllowed)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), explainTimeout)
		defer cancel()
		found, err := answered(ctx, r.URL.Query(), explainers())
		switch {
		case errors.Is(err, errUnknownKind):
			http.Error(w, err.Error(), http.StatusNotFound)
		case errors.Is(err, errNotSynced):
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		default:
			found.write(w, r.URL.Query().Get("format"))
		}
	})
}

func answered(ctx context.Context, query url.Values, explainers []*Explainer) (*answer, error) {
	kind, name := query.Get("kind"), query.Get("name")
	if query.Get("show") == showDataflow {
		drawn := draw(explainers)
		return &answer{http.StatusOK, drawn.text(), showDataflow, drawn}, nil
	}
	if name == "" {
		for _, e := range explainers {
			if err := e.unsynced(); err != nil {
				return nil, fmt.Errorf("controller %q: %w: %w", e.Reads.Controller, errNotSynced, err)
			}
		}
		found, err := list(ctx, kind, query.Get("state"), explainers)
		return &answer{http.StatusOK, found.text(), "list", found}, err
	}
	owners, err := explainOwners(ctx, kind, types.NamespacedName{Namespace: query.Get("namespace"), Name: name}, explainers)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	status := http.StatusNotFound
	for _, o := range owners {
		switch {
		case o.Found || o.Last != nil:
			status = http.StatusOK
		case o.Process != "" && status == http.StatusNotFound:
			status = http.StatusServiceUnavailable // another process, or this one later, knows more
		}
		text.WriteString(o.String())
	}
	return &answer{status, text.String(), "owners", owners}, nil
}

// write sends the answer in a format.
func (a *answer) write(w http.ResponseWriter, format string) {
	body, content, err := a.render(format)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", policy)
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Type", content)
	w.WriteHeader(a.status)
	_, _ = w.Write(body) //nolint:gosec // html/template escapes a page; nosniff keeps text and JSON from being one
}
