package observe

import (
	"context"
	"fmt"
	"html/template"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/explain"
)

// maxListed limits the owners of one answer.
const maxListed = 500

// listed has owners, those that are not ready first, and the number of omitted ones.
type listed struct {
	Owners []explain.Owner `json:"owners"`
	More   int             `json:"more,omitempty"`
}

// list explains the owners of the kind in the state. Empty arguments match all.
func list(ctx context.Context, kind, state string, explainers []*Explainer) (listed, error) {
	var out listed
	var ready []explain.Owner
	total := 0
	for _, e := range explainers {
		if kind != "" && !e.Reads.Kinds[0].Named(kind) {
			continue
		}
		keys, err := e.keys(ctx)
		if err != nil {
			return out, err
		}
		for _, key := range keys {
			o, err := e.Explain(ctx, key)
			if err != nil {
				return out, err
			}
			if state != "" && !strings.EqualFold(state, o.State()) {
				continue
			}
			total++
			if into := place(&out.Owners, &ready, o); len(*into) < maxListed {
				*into = append(*into, o)
			}
		}
	}
	out.Owners = append(out.Owners, ready[:min(len(ready), maxListed-len(out.Owners))]...)
	out.More = total - len(out.Owners)
	return out, nil
}

// place returns the list for an owner: ready owners follow all others.
func place(others, ready *[]explain.Owner, o explain.Owner) *[]explain.Owner {
	if o.Found && o.Ready {
		return ready
	}
	return others
}

// keys returns the known owners.
func (e *Explainer) keys(ctx context.Context) ([]types.NamespacedName, error) {
	if e.Groups != nil {
		return e.Groups.Keys(), nil
	}
	return e.Reads.OwnerKeys(ctx)
}

// text returns one line for each owner.
func (l listed) text() string {
	var b strings.Builder
	for _, o := range l.Owners {
		_, _ = fmt.Fprintf(&b, "%s %s: %s%s\n", o.Kind, o.Name, o.State(), because(o))
	}
	if l.More > 0 {
		_, _ = fmt.Fprintf(&b, "and %d more\n", l.More)
	}
	return b.String()
}

func because(o explain.Owner) string {
	if len(o.Causes) == 0 {
		return ""
	}
	return ": " + strings.Join(strings.Fields(o.Causes[0].Message), " ")
}

// link returns a URL from the list to an owner, or from a state to a list.
func link(values ...string) template.URL {
	query := url.Values{"format": {formHTML}}
	for i := 0; i+1 < len(values); i += 2 {
		if values[i+1] != "" {
			query.Set(values[i], values[i+1])
		}
	}
	return template.URL("?" + query.Encode()) //nolint:gosec // the values are encoded
}

// ownerLink returns the URL of the explanation of an owner.
func ownerLink(o explain.Owner) template.URL {
	namespace, name, namespaced := strings.Cut(o.Name, "/")
	if !namespaced {
		namespace, name = "", o.Name
	}
	group, _, _ := strings.Cut(o.Kind, "/")
	kind := strings.TrimSuffix(o.Kind[strings.LastIndex(o.Kind, "/")+1:]+"."+group, ".")
	return link("kind", kind, "namespace", namespace, "name", name)
}

// policy forbids a page to run scripts and to load anything.
const policy = "default-src 'none'; style-src 'unsafe-inline'"

// states returns the states of owners, those that need attention first.
func states() []string {
	return []string{"NotReady", "Deleting", "Paused", "NotSeen", "NotSelected", "NotFound", "Ready"}
}

// pages are the HTML templates. The browser reloads a page every five seconds. A page runs no script and loads nothing from other servers.
var pages = template.Must(template.New("").Funcs(template.FuncMap{ //nolint:gochecknoglobals // compiled once, never changed
	"link": link, "owner": ownerLink,
	"states": states, "dataflow": func() template.URL { return link("show", showDataflow) },
}).Parse(`{{define "head"}}<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="5"><title>Owners</title><style>
body{font:14px/1.5 sans-serif;margin:2em;max-width:90em}table{border-collapse:collapse}td,th{text-align:left;padding:.2em 1em .2em 0;vertical-align:top}
ul{padding-left:1.5em}svg{max-width:100%}text{font:12px sans-serif}</style></head><body><main>{{end}}
{{define "foot"}}</main></body></html>{{end}}
{{define "node"}}<li>{{.Text}}{{if .Below}}<ul>{{range .Below}}{{template "node" .}}{{end}}</ul>{{end}}</li>{{end}}
{{define "owners"}}{{template "head"}}<p><a href="{{link}}">all owners</a> <a href="{{dataflow}}">dataflow</a></p>
<ul>{{range .}}{{template "node" .Tree}}{{end}}</ul>{{template "foot"}}{{end}}
{{define "list"}}{{template "head"}}<p>Owners: <a href="{{link}}">all</a>{{range states}} <a href="{{link "state" (print .)}}">{{.}}</a>{{end}} <a href="{{dataflow}}">dataflow</a></p>
<table><tr><th>Owner</th><th>Controller</th><th>State</th><th>First cause</th></tr>{{range .Owners}}
<tr><td><a href="{{owner .}}">{{.Kind}} {{.Name}}</a></td><td>{{.Controller}}</td><td>{{.State}}</td><td>{{with .Causes}}{{(index . 0).Message}}{{end}}</td></tr>{{end}}
</table>{{if .More}}<p>and {{.More}} more</p>{{end}}{{template "foot"}}{{end}}
{{define "dataflow"}}{{template "head"}}<p><a href="{{link}}">all owners</a></p>{{range .}}
<h2>{{.Controller}}</h2>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {{.Width}} {{.Height}}" width="{{.Width}}" role="img" aria-label="{{.Controller}}">{{range .Lines}}
<line x1="{{.X1}}" y1="{{.Y1}}" x2="{{.X2}}" y2="{{.Y2}}" stroke="gray"/>{{end}}{{range .Boxes}}
<g><title>{{.Hint}}</title><rect x="{{.X}}" y="{{.Y}}" width="{{.Width}}" height="{{.Height}}" fill="white" stroke="black" rx="4"/><text x="{{.TextX}}" y="{{.TextY}}">{{.Text}}</text></g>{{end}}
</svg>
<table><tr><th>Kind</th><th>Read</th><th>Written</th></tr>{{range .Kinds}}<tr><td>{{.Name}}</td><td>{{.Read}}</td><td>{{.Written}}</td></tr>{{end}}</table>{{end}}
{{template "foot"}}{{end}}`))
