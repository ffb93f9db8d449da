package scaffold

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Version is another API version of a kind of the project. The version of the API is the new one.
type Version struct {
	API
	// Hub is the version that is stored and reconciled. The others convert to it. The kind must have it. Required.
	Hub string
}

// HubPath returns the folder of the hub.
func (v Version) HubPath() string { return path.Join("api", v.Hub) }

// Files returns the files that change in the project when the version is added.
func (v Version) Files(existing Files) (Files, error) {
	project, err := ProjectOf(existing)
	if err != nil {
		return nil, err
	}
	v.Project = project
	if v.API, err = v.complete(); err != nil {
		return nil, err
	}
	if !version.MatchString(v.Hub) || v.Hub == v.Version {
		return nil, fmt.Errorf("--hub %q: want a version that the kind has and that is not --version, such as v1", v.Hub)
	}
	hub, target, err := v.declarations(existing)
	if err != nil {
		return nil, err
	}
	types, err := copyKind(hub, target, v.Kind, v.Version)
	if err != nil {
		return nil, err
	}
	own := path.Join(v.APIPath(), v.Lower())
	added, err := render(v, map[string]string{
		"version/conversion.go.tmpl": own + "_conversion.go", "version/conversion_test.go.tmpl": own + "_conversion_test.go",
	})
	if err != nil {
		return nil, err
	}
	added[own+".go"] = types
	if text := v.sample(existing); text != "" {
		added[path.Join("config/samples", v.Lower()+"-"+v.Version+".yaml")] = text
	}
	changed := Files{}
	for _, name := range slices.Sorted(maps.Keys(added)) {
		if _, there := existing[name]; there {
			return nil, fmt.Errorf("%s already exists: delete it first, or choose another --version", name)
		}
		changed[name] = added[name]
	}
	if err := v.once(existing, changed); err != nil {
		return nil, err
	}
	v.markHub(hub, existing, changed)
	if err := v.register(existing, changed); err != nil {
		return nil, err
	}
	return changed, changed.format()
}

// declarations returns those of the hub and of the new version, after checking that the kind can have that hub and that version.
func (v Version) declarations(existing Files) (hub, target []declaration, err error) {
	folders := map[string][]declaration{}
	var versions []string
	for name := range existing {
		folder := path.Dir(name)
		if _, known := folders[folder]; known || path.Dir(folder) != "api" || path.Ext(name) != ".go" {
			continue
		}
		if folders[folder], err = declarations(existing, folder); err != nil {
			return nil, nil, err
		}
		if find(folders[folder], v.Kind) != nil && v.grouped(existing, folder) {
			versions = append(versions, path.Base(folder))
		}
	}
	slices.Sort(versions)
	if len(versions) == 0 {
		return nil, nil, fmt.Errorf("--kind %q: no folder below api/ declares it in the group %s: run reconcilekit create api first", v.Kind, v.Group)
	}
	if !slices.Contains(versions, v.Hub) {
		return nil, nil, fmt.Errorf("--hub %q: %s has no such version: want one of %s", v.Hub, v.Kind, strings.Join(versions, ", "))
	}
	hub, target = folders[v.HubPath()], folders[v.APIPath()]
	if d := find(target, v.Kind); d != nil {
		return nil, nil, fmt.Errorf("--version %q: %s declares %s already: choose another --version", v.Version, d.file, v.Kind)
	}
	if find(hub, v.Kind+"List") == nil {
		return nil, nil, fmt.Errorf("--kind %q: %s declares no %sList: add it", v.Kind, v.HubPath(), v.Kind)
	}
	if d := find(hub, v.Kind+".ConvertTo"); d != nil {
		return nil, nil, fmt.Errorf("--hub %q: %s converts it to another version: name that one, or delete the conversion", v.Hub, d.file)
	}
	for _, other := range versions {
		in := folders[path.Join("api", other)]
		d := find(in, v.Kind)
		switch {
		case other == v.Hub:
		case find(in, v.Kind+".Hub") != nil:
			return nil, nil, fmt.Errorf("--hub %q: the hub of %s is %s, see %s: want --hub %s", v.Hub, v.Kind, other, d.file, other)
		case storageVersion.MatchString(d.text):
			return nil, nil, fmt.Errorf("--hub %q: %s has //+kubebuilder:storageversion: delete the marker, or want --hub %s", v.Hub, d.file, other)
		case find(in, v.Kind+".ConvertTo") == nil:
			return nil, nil, fmt.Errorf("%s has no method ConvertTo: add ConvertTo and ConvertFrom, which convert it to %s and back", d.file, v.Hub)
		}
	}
	return hub, target, nil
}

func find(all []declaration, name string) *declaration {
	for i := range all {
		if all[i].declares(name) {
			return &all[i]
		}
	}
	return nil
}

// grouped reports whether the folder contains a version of the group.
func (v Version) grouped(existing Files, folder string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(existing)), func(name string) bool {
		return path.Dir(name) == folder && strings.Contains(existing[name], "// +groupName="+v.Group+"\n")
	})
}

// once adds the files that the versions of all kinds share, unless an earlier command has added them.
func (v Version) once(existing, changed Files) error {
	shared, err := render(v, map[string]string{
		"api/groupversion.go.tmpl": path.Join(v.APIPath(), "groupversion.go"), "webhook/webhooks.go.tmpl": webhooksFile,
		"version/versions.go.tmpl":     "internal/versions/versions.go",
		"version/versionstest.go.tmpl": "internal/versions/versionstest/versionstest.go",
	})
	if err != nil {
		return err
	}
	for name, text := range shared {
		if _, there := existing[name]; !there {
			changed[name] = text
		}
	}
	if _, there := existing[path.Join(v.APIPath(), "groupversion.go")]; there && !v.grouped(existing, v.APIPath()) {
		return fmt.Errorf("%s/groupversion.go is not of the group %s: choose another --version", v.APIPath(), v.Group)
	}
	for _, field := range []string{"Webhooks", "Describe"} {
		set := regexp.MustCompile(`(?m)^\s*` + field + `:\s+(.*?),?$`).FindStringSubmatch(existing["main.go"])
		if set != nil && set[1] != strings.ToLower(field) {
			return fmt.Errorf("main.go sets %s to %s: move that into the function %s of webhooks.go, and write %s: %[3]s",
				field, set[1], strings.ToLower(field), field)
		}
	}
	return nil
}

// markHub marks the hub as the stored version that the others convert to.
func (v Version) markHub(hub []declaration, existing, changed Files) {
	d := find(hub, v.Kind)
	text := existing[d.file]
	if !storageVersion.MatchString(d.text) {
		text = text[:d.start] + "// +kubebuilder:storageversion\n" + text[d.start:]
	}
	if find(hub, v.Kind+".Hub") == nil {
		text += fmt.Sprintf("\n// Hub marks the version that is stored. The other versions convert to it.\nfunc (*%s) Hub() {}\n", v.Kind)
	}
	if text != existing[d.file] {
		changed[d.file] = text
	}
}

// register adds the version to the scheme, the conversion to the webhook server and the CRD to the page.
func (v Version) register(existing, changed Files) error {
	const imports, operator = "imports", "operator"
	crd := v.Plural() + "." + v.Group
	conversions := insert(existing, changed, webhooksFile, "conversions", fmt.Sprintf("%q,", crd))
	if conversions != nil {
		conversions = fmt.Errorf("%w; the function describe needs page.Conversions = []string{...} with both", conversions)
	}
	return errors.Join(
		insert(existing, changed, path.Join(v.APIPath(), "groupversion.go"), "kinds", fmt.Sprintf("&%s{}, &%[1]sList{},", v.Kind)),
		insert(existing, changed, "main.go", imports, fmt.Sprintf("%s %q", v.Version, v.Module+"/"+v.APIPath())),
		insert(existing, changed, "main.go", "schemes", v.Version+".AddToScheme,"),
		insert(existing, changed, "main.go", operator, "Webhooks: webhooks,"),
		insert(existing, changed, "main.go", operator, "Describe: describe,"),
		insert(existing, changed, webhooksFile, imports, `"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"`),
		insert(existing, changed, webhooksFile, "handlers", `{"/convert": conversion.NewWebhookHandler(mgr.GetScheme(), conversion.NewRegistry())},`),
		conversions,
	)
}

var sampleName = regexp.MustCompile(`(?m)^(  name: .*\S)\s*$`)

// sample returns the sample of the hub in the new version and with another name, empty if there is none.
func (v Version) sample(existing Files) string {
	given := fmt.Sprintf("apiVersion: %s/%s\nkind: %s\n", v.Group, v.Hub, v.Kind)
	for document := range strings.SplitSeq(existing[path.Join("config/samples", v.Lower()+".yaml")], "\n---\n") {
		name := sampleName.FindStringSubmatchIndex(document)
		if !strings.Contains(document, given) || name == nil {
			continue
		}
		document = document[:name[3]] + "-" + v.Version + document[name[3]:]
		return strings.TrimSpace(strings.Replace(document, given, fmt.Sprintf("apiVersion: %s/%s\nkind: %s\n", v.Group, v.Version, v.Kind), 1)) + "\n"
	}
	return ""
}
