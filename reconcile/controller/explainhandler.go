package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// ExplainPath is the path at which an operator usually serves [ExplainHandler].
const ExplainPath = "/debug/explain"

// ExplainHandler serves explanations of the controllers' owners: GET with the parameters kind, namespace and name answers with the tree as
// text, or with the data as JSON where format=json is asked for.
//
// Nothing serves it unless the operator does so. Explanations name objects, field managers and what the API server said: serve them
// behind authentication, such as that of the metrics server, with manager.AddMetricsServerExtraHandler, which filters extra handlers like
// the metrics where metrics are filtered.
func ExplainHandler(controllers ...Declared) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.Error(w, "only GET", http.StatusMethodNotAllowed)
			return
		}
		query := r.URL.Query()
		kind, name := query.Get("kind"), query.Get("name")
		if kind == "" || name == "" {
			http.Error(w, "want the parameters kind, name and, unless the kind is cluster-scoped, namespace", http.StatusBadRequest)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), explainTimeout)
		defer cancel()
		owners, err := Explain(ctx, kind, types.NamespacedName{Namespace: query.Get("namespace"), Name: name}, controllers...)
		switch {
		case errors.Is(err, errUnknownKind):
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		status := http.StatusNotFound
		var text strings.Builder
		for _, o := range owners {
			if o.Found || o.Last != nil {
				status = http.StatusOK
			}
			_, _ = fmt.Fprint(&text, o)
		}
		body, form := []byte(text.String()), "text/plain; charset=utf-8"
		if query.Get("format") == "json" {
			form = "application/json"
			if body, err = json.MarshalIndent(owners, "", "  "); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		w.Header().Set("Content-Type", form)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.WriteHeader(status)
		_, _ = w.Write(body)
	})
}
