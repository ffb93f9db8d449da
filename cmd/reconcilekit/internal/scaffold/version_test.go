package scaffold_test

import (
	"go/format"
	"maps"
	"path"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/cmd/reconcilekit/internal/scaffold"
)

// change merges the files that each command writes into files.
func change(t *testing.T, files scaffold.Files, commands ...interface {
	Files(existing scaffold.Files) (scaffold.Files, error)
},
) scaffold.Files {
	t.Helper()
	for _, command := range commands {
		changed, err := command.Files(files)
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(files, changed)
	}
	return files
}

// TestVersions adds versions of several kinds, before and after webhooks, and checks that all files stay formatted.
func TestVersions(t *testing.T) {
	t.Parallel()
	website, album := scaffold.API{Version: "v1", Kind: "Website"}, scaffold.API{Version: "v1", Kind: "Album"}
	files := change(t, project(t), website, album, scaffold.Webhook{API: website, Validation: true},
		scaffold.Version{API: scaffold.API{Version: "v1beta1", Kind: "Website"}, Hub: "v1"},
		scaffold.Version{API: scaffold.API{Version: "v1beta1", Kind: "Album"}, Hub: "v1"},
		scaffold.Version{API: scaffold.API{Version: "v2", Kind: "Website"}, Hub: "v1"},
		scaffold.Webhook{API: album, Validation: true},
		scaffold.API{Version: "v3", Group: "shelf", Kind: "Book"},
		scaffold.Version{API: scaffold.API{Version: "v4", Group: "shelf", Kind: "Book"}, Hub: "v3"},
	)
	for name, text := range files {
		if path.Ext(name) != ".go" {
			continue
		}
		if formatted, err := format.Source([]byte(text)); err != nil || string(formatted) != text {
			t.Errorf("%s is not formatted: %v\n%s", name, err, text)
		}
	}
	for name, wanted := range map[string][]string{
		"main.go":                     {"v1beta1.AddToScheme,", "v2.AddToScheme,", `v2 "example.com/shop/api/v2"`, "Webhooks: webhooks,", "Describe: describe,"},
		"webhooks.go":                 {`"/convert"`, `"websites.example.com",`, `"albums.example.com",`, `"books.shelf.example.com",`, "album.Webhooks(),"},
		"api/v1/website.go":           {"// +kubebuilder:storageversion\ntype Website struct", "func (*Website) Hub() {}"},
		"api/v1beta1/groupversion.go": {"&Website{}, &WebsiteList{},", "&Album{}, &AlbumList{},"},
		"api/v2/website.go":           {"type WebsiteSpec struct", "type WebsiteStatus struct", "type WebsiteList struct"},
		"api/v2/website_conversion.go": {
			`versions.Convert(o, to, "example.com/v2-fields", "example.com/v1-fields", websiteToHub, websiteFromHub)`,
		},
		"api/v4/book_conversion.go":   {`v3 "example.com/shop/api/v3"`},
		"config/samples/book-v4.yaml": {"apiVersion: shelf.example.com/v4\nkind: Book\n", "  name: sample-v4\n"},
	} {
		for _, want := range wanted {
			if strings.Count(files[name], want) != 1 {
				t.Errorf("%s does not contain %q exactly once:\n%s", name, want, files[name])
			}
		}
	}
}

// TestVersionCopies checks that the new version gets each type, method and import that the kind of the hub uses, from
// all files, exactly once.
func TestVersionCopies(t *testing.T) {
	t.Parallel()
	files := change(t, project(t), scaffold.API{Version: "v1", Kind: "Website"}, scaffold.API{Version: "v1", Kind: "Album"})
	files["api/v1/website.go"] = strings.Replace(files["api/v1/website.go"], "Text string", "Size Size\n\tWait meta.Duration\n\tText string", 1) + `
var _ = unused()

// Hub is a method that the hub alone has.
func (*Website) Hub() {}
`
	files["api/v1/website.go"] = strings.ReplaceAll(files["api/v1/website.go"], "metav1", "meta")
	files["api/v1/album.go"] = strings.Replace(files["api/v1/album.go"], "Text string", "Size Size\n\tText string", 1)
	files["api/v1/shared.go"] = `package v1

import (
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// +kubebuilder:validation:MinProperties=1

// Size is that of a disk.
type Size struct {
	Limit resource.Quantity
	Env   []corev1.EnvVar
	unit  Unit
}

// Unit is one.
type Unit string

// Upper is a method.
func (u Unit) Upper() string { return strings.ToUpper(string(u)) + suffix }

const suffix = "!"

func unused() string { return os.Args[0] }
`
	change(t, files,
		scaffold.Version{API: scaffold.API{Version: "v1beta1", Kind: "Website"}, Hub: "v1"},
		scaffold.Version{API: scaffold.API{Version: "v1beta1", Kind: "Album"}, Hub: "v1"})
	const wantImports = `package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"strings"
)

// Website is`
	const wantShared = `
// +kubebuilder:validation:MinProperties=1

// Size is that of a disk.
type Size struct {
	Limit resource.Quantity
	Env   []corev1.EnvVar
	unit  Unit
}

// Unit is one.
type Unit string

// Upper is a method.
func (u Unit) Upper() string { return strings.ToUpper(string(u)) + suffix }

const suffix = "!"
`
	website := files["api/v1beta1/website.go"]
	if !strings.HasPrefix(website, wantImports) || !strings.HasSuffix(website, wantShared) {
		t.Errorf("got:\n%s\nwant:\n%s\n...\n%s", website, wantImports, wantShared)
	}
	for text, unwanted := range map[string]string{website: "Hub()", files["api/v1beta1/album.go"]: "type Size"} {
		if strings.Contains(text, unwanted) {
			t.Errorf("%q is copied:\n%s", unwanted, text)
		}
	}
	if got := strings.Count(files["api/v1/website.go"], "Hub()"); got != 1 {
		t.Errorf("the hub has %d Hub methods", got)
	}
}

// TestVersionErrors checks that an invalid request is an error that names the flag or the file and the remedy, and that
// nothing is written.
func TestVersionErrors(t *testing.T) {
	t.Parallel()
	edit := func(name, old, replacement string) func(scaffold.Files) {
		return func(files scaffold.Files) {
			if !strings.Contains(files[name], old) {
				panic(name + " lacks " + old)
			}
			files[name] = strings.ReplaceAll(files[name], old, replacement)
		}
	}
	none := func(scaffold.Files) {}
	for name, c := range map[string]struct {
		edit                      func(scaffold.Files)
		group, version, kind, hub string
		want                      string
	}{
		"version": {none, "", "beta", "Website", "v1", `--version "beta": want a version such as v1`},
		"kind":    {none, "", "v2", "Box", "v1", `--kind "Box": no folder below api/ declares it in the group example.com: run reconcilekit create api first`},
		"group":   {none, "shelf", "v2", "Website", "v1", `in the group shelf.example.com`},
		"no hub":  {none, "", "v2", "Website", "", `--hub "": want a version that the kind has`},
		"hub":     {none, "", "v2", "Website", "v3", `--hub "v3": Website has no such version: want one of v1, v1beta1`},
		"same":    {none, "", "v1", "Website", "v1", `--hub "v1": want a version that the kind has and that is not --version`},
		"twice":   {none, "", "v1beta1", "Website", "v1", `--version "v1beta1": api/v1beta1/website.go declares Website already`},
		"spoke":   {none, "", "v2", "Website", "v1beta1", `--hub "v1beta1": api/v1beta1/website_conversion.go converts it to another version`},
		"two hubs": {
			func(files scaffold.Files) { delete(files, "api/v1beta1/website_conversion.go") }, "", "v2", "Website", "v1beta1",
			`--hub "v1beta1": the hub of Website is v1, see api/v1/website.go: want --hub v1`,
		},
		"two stored": {
			edit("api/v1beta1/website.go", "type Website struct", "// +kubebuilder:storageversion\ntype Website struct"), "", "v2", "Website", "v1",
			`api/v1beta1/website.go has //+kubebuilder:storageversion: delete the marker`,
		},
		"no conversion": {
			func(files scaffold.Files) { delete(files, "api/v1beta1/website_conversion.go") }, "", "v2", "Website", "v1",
			`api/v1beta1/website.go has no method ConvertTo`,
		},
		"no list":     {edit("api/v1/website.go", "WebsiteList", "Websites"), "", "v2", "Website", "v1", "api/v1 declares no WebsiteList: add it"},
		"file":        {func(files scaffold.Files) { files["api/v2/website.go"] = "package v2\n" }, "", "v2", "Website", "v1", "api/v2/website.go already exists"},
		"other group": {none, "", "v3", "Website", "v1", "api/v3/groupversion.go is not of the group example.com: choose another --version"},
		"no Go":       {edit("api/v1/website.go", "package v1", "package"), "", "v2", "Website", "v1", "read api/v1/website.go"},
		"import":      {edit("api/v1/website.go", "import metav1", "import meta"), "", "v2", "Website", "v1", "api/v1/website.go uses metav1 and has no import of that name"},
		"half declared": {func(files scaffold.Files) {
			files["api/v1/website.go"] = strings.Replace(files["api/v1/website.go"], "Text string", "A A", 1) + "\ntype (\n\tA B\n\tB string\n)\n"
			files["api/v2/b.go"] = "package v2\n\ntype B string\n"
		}, "", "v2", "Website", "v1", "api/v1/website.go declares A, B in one declaration"},
		"imports marker":     {edit("main.go", "//reconcilekit:imports", ""), "", "v2", "Website", "v1", "main.go has no line //reconcilekit:imports"},
		"schemes marker":     {edit("main.go", "//reconcilekit:schemes", ""), "", "v2", "Website", "v1", "main.go has no line //reconcilekit:schemes"},
		"operator marker":    {edit("main.go", "//reconcilekit:operator", ""), "", "v2", "Website", "v1", "main.go has no line //reconcilekit:operator"},
		"handlers marker":    {edit("webhooks.go", "//reconcilekit:handlers", ""), "", "v2", "Website", "v1", "webhooks.go has no line //reconcilekit:handlers"},
		"conversions marker": {edit("webhooks.go", "//reconcilekit:conversions", ""), "", "v2", "Website", "v1", "the function describe needs page.Conversions"},
		"kinds marker":       {edit("api/v4/groupversion.go", "//reconcilekit:kinds", ""), "", "v4", "Website", "v1", "api/v4/groupversion.go has no line //reconcilekit:kinds"},
		"own webhooks": {
			edit("main.go", "Webhooks: webhooks,", "Webhooks: mine(),"), "", "v2", "Website", "v1",
			"main.go sets Webhooks to mine(): move that into the function webhooks of webhooks.go",
		},
		"no project": {func(files scaffold.Files) { delete(files, "main.go") }, "", "v2", "Website", "v1", "run reconcilekit init first"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := change(t, project(t), scaffold.API{Version: "v1", Kind: "Website"},
				scaffold.Version{API: scaffold.API{Version: "v1beta1", Kind: "Website"}, Hub: "v1"},
				scaffold.API{Version: "v3", Group: "shelf", Kind: "Book"}, scaffold.API{Version: "v4", Kind: "Tree"})
			c.edit(files)
			changed, err := scaffold.Version{API: scaffold.API{Group: c.group, Version: c.version, Kind: c.kind}, Hub: c.hub}.Files(files)
			if err == nil || !strings.Contains(err.Error(), c.want) || changed != nil {
				t.Errorf("got %v, %d files, want %s", err, len(changed), c.want)
			}
		})
	}
}
