package scaffold

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// webhooksFile contains the webhooks and the conversions of all kinds.
const webhooksFile = "webhooks.go"

// Webhook describes the admission webhooks of a kind. The default of its Version is the only one that the kind has.
type Webhook struct {
	API
	// Defaulting sets defaults, Validation validates objects. At least one is required.
	Defaulting, Validation bool
}

// onlyVersion returns the version of the kind in the project.
func (w Webhook) onlyVersion(existing Files) (string, error) {
	var found []string
	for name := range existing {
		if folder := path.Dir(name); path.Dir(folder) == "api" && path.Base(name) == w.Lower()+".go" {
			found = append(found, path.Base(folder))
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("--kind %q: there is no api/*/%s.go: run reconcilekit create api first", w.Kind, w.Lower())
	case 1:
		return found[0], nil
	}
	slices.Sort(found)
	return "", fmt.Errorf("--version is missing: the kind has %s; take the one that is stored and reconciled", strings.Join(found, ", "))
}

// Files returns the files that change in the project when the webhooks are added.
func (w Webhook) Files(existing Files) (Files, error) {
	project, err := ProjectOf(existing)
	if err != nil {
		return nil, err
	}
	w.Project = project
	if w.Version == "" && kind.MatchString(w.Kind) {
		if w.Version, err = w.onlyVersion(existing); err != nil {
			return nil, err
		}
	}
	if w.API, err = w.complete(); err != nil {
		return nil, err
	}
	if !w.Defaulting && !w.Validation {
		return nil, errors.New("--defaulting=false --validation=false: want one of them")
	}
	if name := path.Join(w.APIPath(), w.Lower()+".go"); existing[name] == "" {
		return nil, fmt.Errorf("--version %q --kind %q: there is no %s: run reconcilekit create api first", w.Version, w.Kind, name)
	}
	own := path.Join("internal", w.Lower())
	added, err := render(w, map[string]string{
		"webhook/webhook.go.tmpl": path.Join(own, "webhook.go"), "webhook/webhook_test.go.tmpl": path.Join(own, "webhook_test.go"),
	})
	if err != nil {
		return nil, err
	}
	changed := Files{}
	if err := add(existing, changed, added); err != nil {
		return nil, err
	}
	const all = webhooksFile
	if _, there := existing[all]; !there {
		first, err := render(w, map[string]string{"webhook/webhooks.go.tmpl": all})
		if err != nil {
			return nil, err
		}
		changed[all] = first[all]
	}
	if err := errors.Join(
		insert(existing, changed, all, "imports", fmt.Sprintf("%q", w.Module+"/"+own)),
		insert(existing, changed, all, "handlers", w.Lower()+".Handlers(mgr.GetScheme()),"),
		insert(existing, changed, all, "webhooks", w.Lower()+".Webhooks(),"),
		insert(existing, changed, "main.go", "operator", "Webhooks: webhooks,"),
		insert(existing, changed, "main.go", "operator", "Describe: describe,"),
	); err != nil {
		return nil, err
	}
	return changed, changed.format()
}
