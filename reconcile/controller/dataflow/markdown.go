package dataflow

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/transition"
)

// Markdown returns the page as Markdown: the watches table, the sequence diagram, webhooks, HTTP endpoints, field managers
// and finalizers, the read and write matrix, and the permissions.
func (p Page) Markdown() string {
	var w strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&w, format+"\n", args...) }
	line("# %s: Dataflow", p.Name)
	line("\n## Controller Watches\n")
	line("An object of these kinds that is created, changed or deleted triggers a reconciliation.\n")
	table(&w, []string{"Type", "GVK", "Source"}, p.watchRows())
	line("\n## Reconciliation Flow\n")
	line("Requests to the Kubernetes API and its events.\n")
	line("```mermaid\n%s```", p.Mermaid())
	if len(p.Webhooks)+len(p.Conversions) > 0 {
		line("\n## Webhooks\n")
	}
	if len(p.Webhooks) > 0 {
		table(&w, []string{"Name", "Type", "Path", "Failure Policy", "Service", "Source"}, p.webhookRows())
	}
	for _, crd := range p.Conversions {
		line("\nThe versions of %s are converted at /convert.", crd)
	}
	p.writeEndpoints(&w)
	line("\n## Ownership\n")
	rows := make([][]string, len(p.Controllers))
	for i, d := range p.Controllers {
		rows[i] = []string{d.Controller, d.FieldManager, d.Finalizer}
	}
	table(&w, []string{"Controller", "Field Manager", "Finalizer"}, rows)
	line("\n## Reads and Writes\n")
	line("Reads come from the cache and send no request.")
	for _, d := range p.Controllers {
		line("\n### %s\n", d.Controller)
		if d.Owners != "" {
			line("Of the owners' kind it reconciles the objects selected by %s.\n", d.Owners)
		}
		table(&w, []string{"GVK", "Cache", "FetchRemoteState", "Apply", "WriteStatus", "Finalize"}, d.accessRows())
	}
	if rows := p.externalRows(); len(rows) > 0 {
		line("\n## Outside of the Cluster\n")
		line("Resources in other systems that the operator observes, ensures and removes.\n")
		table(&w, []string{"Controller", "Kind", "Events", "Source"}, rows)
	}
	for _, d := range p.Controllers {
		d.writeTransitions(&w)
	}
	line("\n## Permissions\n")
	if len(p.Namespaces) > 0 {
		line("In the namespaces %s; those on resources without namespaces hold in the cluster.\n", strings.Join(p.Namespaces, ", "))
	}
	table(&w, []string{"API Groups", "Resources", "Verbs"}, ruleRows(p.Rules()))
	return w.String()
}

func (p Page) writeEndpoints(w *strings.Builder) {
	if len(p.Endpoints) == 0 {
		return
	}
	rows := make([][]string, len(p.Endpoints))
	for i, endpoint := range p.Endpoints {
		rows[i] = []string{endpoint.Method, endpoint.Path, endpoint.Source}
	}
	w.WriteString("\n## HTTP Endpoints\n\n")
	table(w, []string{"Method", "Path", "Source"}, rows)
}

// Markdown returns the page of this controller as Markdown.
func (d Description) Markdown() string {
	return Page{Name: d.Controller, Controllers: []Description{d}}.Markdown()
}

// watchRows returns the rows of all controllers: first For, then Owns, then Watches.
func (p Page) watchRows() [][]string {
	var rows [][]string
	for _, watch := range p.watches() {
		rows = append(rows, []string{watch.Type, watch.GVK, watch.Source})
	}
	return rows
}

func (p Page) watches() []Watch {
	var all []Watch
	for _, d := range p.Controllers {
		all = append(all, d.Watches...)
	}
	sortWatches(all)
	return all
}

func (p Page) webhookRows() [][]string {
	rows := make([][]string, len(p.Webhooks))
	for i, hook := range p.Webhooks {
		rows[i] = []string{hook.Name, hook.Type, hook.Path, hook.FailurePolicy, hook.Service, hook.Source}
	}
	return rows
}

func (p Page) externalRows() [][]string {
	var rows [][]string
	for _, d := range p.Controllers {
		for _, k := range d.External {
			events := "none"
			if k.Watched {
				events = "watched"
			}
			rows = append(rows, []string{d.Controller, k.Kind, events, k.Source})
		}
	}
	return rows
}

func (d Description) writeTransitions(w *strings.Builder) {
	for _, t := range d.Transitions {
		fmt.Fprintf(w, "\n## Transitions: %s\n\n", t.Name)
		fmt.Fprintf(w, "The actions of a reconciliation of %s, by stored state and observed facts.\n\n", d.Controller)
		table(w, append([]string{"State"}, t.Facts...), transitionRows(t))
		fmt.Fprintf(w, "\n```mermaid\n%s```\n", t.Mermaid())
	}
}

func transitionRows(t transition.Drawing) [][]string {
	rows := make([][]string, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = append([]string{row.State}, row.Actions...)
	}
	return rows
}

func (d Description) accessRows() [][]string {
	rows := make([][]string, len(d.Access))
	for i, a := range d.Access {
		cache := a.Cache
		if a.Filter != "" {
			cache += " where " + a.Filter
		}
		if a.Optional {
			cache += ", optional"
		}
		reads := slices.Clone(a.FetchRemoteState)
		for _, name := range a.Derived {
			reads = append(reads, "derive "+name)
		}
		rows[i] = []string{
			a.GVK, cache, strings.Join(reads, ", "), strings.Join(a.Apply, ", "),
			strings.Join(a.WriteStatus, ", "), strings.Join(a.Finalize, ", "),
		}
	}
	return rows
}

func ruleRows(rules []rbacv1.PolicyRule) [][]string {
	rows := make([][]string, len(rules))
	for i, rule := range rules {
		groups := slices.Clone(rule.APIGroups)
		for j := range groups {
			if groups[j] == "" {
				groups[j] = `""`
			}
		}
		rows[i] = []string{strings.Join(groups, ", "), strings.Join(rule.Resources, ", "), strings.Join(rule.Verbs, ", ")}
	}
	return rows
}

func table(w *strings.Builder, header []string, rows [][]string) {
	row := func(cells []string) {
		escaped := make([]string, len(cells))
		for i, cell := range cells {
			escaped[i] = strings.ReplaceAll(cell, "|", `\|`)
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(escaped, " | "))
	}
	row(header)
	row(slices.Repeat([]string{"---"}, len(header)))
	for _, cells := range rows {
		row(cells)
	}
}

// Mermaid returns the sequence diagram: the watches that reconcile, the created and updated kinds, the informers, the
// exposed services and the CRDs.
func (p Page) Mermaid() string {
	var w strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&w, format+"\n", args...) }
	id := identifier(p.Name)
	line("sequenceDiagram")
	line("    %%%% Dataflow of %s\n", p.Name)
	line("    participant KubernetesAPI as Kubernetes API")
	line("    participant %s as %s\n", id, p.Name)
	watches := p.watches()
	for _, watch := range watches {
		if watch.Type == typeFor {
			line("    KubernetesAPI->>+%s: Watch %s (reconcile)", id, kindOf(watch.GVK))
		}
	}
	for _, d := range p.Controllers {
		for i := range d.Access {
			if d.Access[i].writes() {
				line("    %s->>KubernetesAPI: Create/Update %s", id, kindOf(d.Access[i].GVK))
			}
		}
	}
	for _, watch := range watches {
		if watch.Type == typeWatches {
			line("    KubernetesAPI-->>+%s: Watch %s (informer)", id, kindOf(watch.GVK))
		}
	}
	if len(p.Services) > 0 {
		line("\n    Note over %s: Exposed Services", id)
		for _, service := range p.Services {
			line("    Note right of %s: %s:%d/TCP [%s]", id, service.Name, service.Port, service.PortName)
		}
	}
	if len(p.CRDs) > 0 {
		line("\n    Note over KubernetesAPI: Defined CRDs")
		for _, crd := range p.CRDs {
			line("    Note right of KubernetesAPI: %s", crd)
		}
	}
	return w.String()
}

// identifier returns a valid Mermaid participant for a name.
func identifier(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
}
