package scaffold

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/gobuffalo/flect"
)

// API is a kind. Project, Version and Kind are required.
type API struct {
	Project
	// Group is the API group. Default: the domain of the project. A word without a dot is a prefix of the domain.
	Group string
	// Version of the API, such as v1alpha1.
	Version string
	// Kind is the kind, such as Website.
	Kind string
	// MultiGroup puts the kind into folders for its group, as kubebuilder does.
	MultiGroup bool
}

var (
	version = regexp.MustCompile(`^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$`)
	kind    = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}$`)
	group   = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)
)

// complete checks the kind and sets the default of its group.
func (a API) complete() (API, error) {
	var errs []error
	if a.Group == "" {
		a.Group = a.Domain
	} else if !strings.Contains(a.Group, ".") && a.Domain != "" {
		a.Group += "." + a.Domain
	}
	if !group.MatchString(a.Group) {
		errs = append(errs, fmt.Errorf("--group %q: want an API group, such as shop.example.com", a.Group))
	}
	if !version.MatchString(a.Version) {
		errs = append(errs, fmt.Errorf("--version %q: want a version such as v1, v1beta1 or v1alpha1", a.Version))
	}
	if !kind.MatchString(a.Kind) {
		errs = append(errs, fmt.Errorf("--kind %q: want a kind such as Website", a.Kind))
	}
	return a, errors.Join(errs...)
}

// Lower returns the name of the package and the controller.
func (a API) Lower() string { return strings.ToLower(a.Kind) }

// LowerCamel returns the kind as a prefix of an unexported name.
func (a API) LowerCamel() string {
	runes := []rune(a.Kind)
	runes[0] = unicode.ToLower(runes[0])
	return string(runes)
}

// Plural returns the resource, as controller-gen derives it.
func (a API) Plural() string { return flect.Pluralize(a.Lower()) }

// short returns the group up to its first dot, without hyphens.
func (a API) short() string {
	first, _, _ := strings.Cut(a.Group, ".")
	return first
}

// Alias returns the import name of the kind's package, as kubebuilder uses it.
func (a API) Alias() string { return strings.ReplaceAll(a.short(), "-", "") + a.Version }

// APIPath returns the folder of the kind.
func (a API) APIPath() string {
	if a.MultiGroup {
		return path.Join("api", a.short(), a.Version)
	}
	return path.Join("api", a.Version)
}

// Up returns the relative path from the controller's folder in a kubebuilder project to that of the project.
func (a API) Up() string { return strings.Repeat("../", strings.Count(a.controllers(), "/")+1) }

func (a API) controllers() string {
	if a.MultiGroup {
		return path.Join("internal", "controller", a.short())
	}
	return path.Join("internal", "controller")
}

// Files returns the files that change in the project when the kind is added.
func (a API) Files(existing Files) (Files, error) {
	project, err := ProjectOf(existing)
	if err != nil {
		return nil, err
	}
	a.Project = project
	if a, err = a.complete(); err != nil {
		return nil, err
	}
	own := path.Join("internal", a.Lower())
	added, err := render(a, map[string]string{
		"api/types.go.tmpl": path.Join(a.APIPath(), a.Lower()+".go"), "api/controller.go.tmpl": path.Join(own, "controller.go"),
		"api/controller_test.go.tmpl": path.Join(own, "controller_test.go"), "api/sample.yaml.tmpl": path.Join("config/samples", a.Lower()+".yaml"),
	})
	if err != nil {
		return nil, err
	}
	changed := Files{}
	if err := add(existing, changed, added); err != nil {
		return nil, err
	}
	registry := path.Join(a.APIPath(), "groupversion.go")
	if _, there := existing[registry]; !there {
		versioned, err := render(a, map[string]string{"api/groupversion.go.tmpl": registry})
		if err != nil {
			return nil, err
		}
		changed[registry] = versioned[registry]
	} else if !strings.Contains(existing[registry], "// +groupName="+a.Group+"\n") {
		return nil, fmt.Errorf("%s is not of the group %s: choose another --version, or another --group", registry, a.Group)
	}
	if err := errors.Join(
		insert(existing, changed, registry, "kinds", fmt.Sprintf("&%s{}, &%sList{},", a.Kind, a.Kind)),
		insert(existing, changed, "main.go", "imports", fmt.Sprintf("%s %q", a.Version, a.Module+"/"+a.APIPath())),
		insert(existing, changed, "main.go", "imports", fmt.Sprintf("%q", a.Module+"/"+own)),
		insert(existing, changed, "main.go", "schemes", a.Version+".AddToScheme,"),
		insert(existing, changed, "main.go", "controllers", a.Lower()+".Controller(),"),
	); err != nil {
		return nil, err
	}
	return changed, changed.format()
}

// Kubebuilder returns the files of the kind in a kubebuilder project whose plugin go/v4 has just written the type and main. They replace
// its controller and its test.
func (a API) Kubebuilder() (Files, error) {
	a, err := a.complete()
	if err != nil {
		return nil, err
	}
	name := path.Join(a.controllers(), a.Lower()+"_controller")
	files, err := render(a, map[string]string{
		"kubebuilder/controller.go.tmpl": name + ".go", "kubebuilder/controller_test.go.tmpl": name + "_test.go",
	})
	if a.MultiGroup {
		for file, text := range files {
			if strings.HasPrefix(file, a.controllers()) {
				files[file] = strings.Replace(text, "package controller\n", "package "+strings.ReplaceAll(a.short(), "-", "")+"\n", 1)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return files, files.format()
}
