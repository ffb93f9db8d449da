package explained

import (
	"context"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/explain"
)

// maxListed bounds the owners of one answer.
const maxListed = 500

// listed are owners, those that are not ready first, and how many more there are.
type listed struct {
	Owners []explain.Owner `json:"owners"`
	More   int             `json:"more,omitempty"`
}

// list explains the owners of the kind in the state, of all where these are empty.
func list(ctx context.Context, kind, state string, explainers []*Explainer) (listed, error) {
	var out listed
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
			switch {
			case err != nil:
				return out, err
			case state != "" && !strings.EqualFold(state, string(o.State())):
			case len(out.Owners) == maxListed:
				out.More++
			default:
				out.Owners = append(out.Owners, o)
			}
		}
	}
	slices.SortStableFunc(out.Owners, func(a, b explain.Owner) int { return rankOf(a) - rankOf(b) })
	return out, nil
}

func rankOf(o explain.Owner) int {
	if o.State() == explain.Ready {
		return 1
	}
	return 0
}

// keys are the owners that there are.
func (e *Explainer) keys(ctx context.Context) ([]types.NamespacedName, error) {
	if e.Groups != nil {
		return e.Groups.Keys(), nil
	}
	return e.Reads.OwnerKeys(ctx)
}

// text is one line for each owner.
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

// link leads from the list to the owner, and from states to lists.
func link(values ...string) template.URL {
	query := url.Values{"format": {formHTML}}
	for i := 0; i+1 < len(values); i += 2 {
		if values[i+1] != "" {
			query.Set(values[i], values[i+1])
		}
	}
	return template.URL("?" + query.Encode()) //nolint:gosec // the values are encoded
}

// liveLink leads to the same page, which loads itself anew.
func liveLink(o explain.Owner) template.URL { return ownerLink(o) + "&refresh=2" }

// ownerLink leads to the explanation of an owner.
func ownerLink(o explain.Owner) template.URL {
	namespace, name, namespaced := strings.Cut(o.Name, "/")
	if !namespaced {
		namespace, name = "", o.Name
	}
	group, _, _ := strings.Cut(o.Kind, "/")
	kind := strings.TrimSuffix(o.Kind[strings.LastIndex(o.Kind, "/")+1:]+"."+group, ".")
	return link("kind", kind, "namespace", namespace, "name", name)
}

// pages are the answers for people. They need nothing from elsewhere: no script, no font, no style sheet.
var pages = template.Must(template.New("").Funcs(template.FuncMap{ //nolint:gochecknoglobals // compiled once, never changed
	"link": link, "owner": ownerLink, "live": liveLink,
	"states": explain.States,
}).Parse(`{{define "head"}}<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Owners</title><style>
body{font:14px/1.5 sans-serif;margin:2em;max-width:90em}table{border-collapse:collapse}td,th{text-align:left;padding:.2em 1em .2em 0;vertical-align:top}
ul{padding-left:1.5em}</style></head><body>{{end}}
{{define "node"}}<li>{{.Text}}{{if .Below}}<ul>{{range .Below}}{{template "node" .}}{{end}}</ul>{{end}}</li>{{end}}
{{define "owners"}}{{template "head"}}<p><a href="{{link}}">all owners</a>{{with .}} <a href="{{live (index . 0)}}">live</a>{{end}}</p>
<ul>{{range .}}{{template "node" .Tree}}{{end}}</ul></body></html>
{{end}}
{{define "list"}}{{template "head"}}<p>Owners: <a href="{{link}}">all</a>{{range states}} <a href="{{link "state" (print .)}}">{{.}}</a>{{end}} <a href="{{link "refresh" "2"}}">live</a></p>
<table><tr><th>Owner</th><th>Controller</th><th>State</th><th>First cause</th></tr>{{range .Owners}}
<tr><td><a href="{{owner .}}">{{.Kind}} {{.Name}}</a></td><td>{{.Controller}}</td><td>{{.State}}</td><td>{{with .Causes}}{{(index . 0).Message}}{{end}}</td></tr>{{end}}
</table>{{if .More}}<p>and {{.More}} more</p>{{end}}</body></html>
{{end}}`))
