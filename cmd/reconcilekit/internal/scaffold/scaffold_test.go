package scaffold_test

import (
	"go/format"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/reconcilekit/reconcilekit/cmd/reconcilekit/internal/scaffold"
)

func project(t *testing.T) scaffold.Files {
	t.Helper()
	files, err := scaffold.Project{Name: "shop", Domain: "example.com", Module: "example.com/shop", SDK: "v0.1.0", Replace: "/src/sdk"}.Files()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestAPIs adds kinds one after the other, to an existing and to a new version, and checks that all files stay
// formatted.
func TestAPIs(t *testing.T) {
	t.Parallel()
	files := project(t)
	for _, api := range []scaffold.API{
		{Version: "v1", Kind: "Website"}, {Version: "v1", Kind: "Album"}, {Version: "v1beta1", Kind: "Box"}, {Version: "v2", Group: "shelf", Kind: "Book"},
	} {
		changed, err := api.Files(files)
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(files, changed)
	}
	for name, text := range files {
		if path.Ext(name) != ".go" {
			continue
		}
		formatted, err := format.Source([]byte(text))
		if err != nil || string(formatted) != text {
			t.Errorf("%s is not formatted: %v\n%s", name, err, text)
		}
	}
	for _, want := range []string{
		`v1 "example.com/shop/api/v1"`, `"example.com/shop/internal/website"`, "v1beta1.AddToScheme,", "album.Controller(),", "//reconcilekit:controllers",
	} {
		if strings.Count(files["main.go"], want) != 1 {
			t.Errorf("main.go does not contain %q exactly once:\n%s", want, files["main.go"])
		}
	}
	for want, name := range map[string]string{
		"&Album{}, &AlbumList{},": "api/v1/groupversion.go", "&Website{}, &WebsiteList{},": "api/v1/groupversion.go",
		"+groupName=shelf.example.com": "api/v2/groupversion.go", "apiVersion: shelf.example.com/v2": "config/samples/book.yaml",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s has no %q:\n%s", name, want, files[name])
		}
	}
}

// TestWebhooks adds the webhooks of kinds one after the other, each once, and checks that all files stay formatted.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	files := project(t)
	for _, w := range []scaffold.Webhook{
		{API: scaffold.API{Version: "v1", Kind: "Website"}, Defaulting: true, Validation: true}, {API: scaffold.API{Version: "v1", Kind: "Album"}, Validation: true},
	} {
		for _, add := range []interface {
			Files(scaffold.Files) (scaffold.Files, error)
		}{w.API, w} {
			changed, err := add.Files(files)
			if err != nil {
				t.Fatal(err)
			}
			maps.Copy(files, changed)
		}
	}
	for name, text := range files {
		if path.Ext(name) != ".go" {
			continue
		}
		if formatted, err := format.Source([]byte(text)); err != nil || string(formatted) != text {
			t.Errorf("%s is not formatted: %v\n%s", name, err, text)
		}
	}
	for name, wanted := range map[string][]string{
		"main.go":     {"webhooks,", "describe,"},
		"webhooks.go": {"website.Handlers(mgr.GetScheme()),", "album.Handlers(mgr.GetScheme()),", "website.Webhooks(),", `"example.com/shop/internal/album"`},
	} {
		for _, want := range wanted {
			if strings.Count(files[name], want) != 1 {
				t.Errorf("%s does not contain %q exactly once:\n%s", name, want, files[name])
			}
		}
	}
	if text := files["internal/album/webhook.go"]; strings.Contains(text, "mutating") || !strings.Contains(text, "validate.albums.example.com") {
		t.Errorf("the webhook of albums:\n%s", text)
	}
	files["api/v1beta1/album.go"] = files["api/v1/album.go"]
	there := scaffold.API{Version: "v1", Kind: "Website"}
	for want, w := range map[string]scaffold.Webhook{
		"run reconcilekit create api first": {API: scaffold.API{Version: "v1", Kind: "Box"}, Validation: true},
		"already exists":                    {API: there, Validation: true},
		"internal/website/webhook":          {API: scaffold.API{Kind: "Website"}, Validation: true}, // the default is the only version
		"the kind has v1, v1beta1":          {API: scaffold.API{Kind: "Album"}, Validation: true},
		"there is no api/*/box.go":          {API: scaffold.API{Kind: "Box"}, Validation: true},
		"want one of them":                  {API: there},
		`--kind "box"`:                      {API: scaffold.API{Version: "v1", Kind: "box"}, Validation: true},
	} {
		if _, err := w.Files(files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestLines checks that a project with one kind has at most 60 lines of code in addition to the kind, its reconciler and
// their tests, without imports, comments and blank lines.
func TestLines(t *testing.T) {
	t.Parallel()
	const most = 60
	files := project(t)
	changed, err := scaffold.API{Version: "v1", Kind: "Website"}.Files(files)
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(files, changed)
	got := map[string]int{}
	for name, text := range files {
		switch name {
		case "api/v1/website.go", "internal/website/controller.go", "internal/website/controller_test.go", "config/samples/website.yaml":
		default:
			if path.Ext(name) == ".go" {
				got[name] = code(text)
				got[""] += got[name]
			}
		}
	}
	if got[""] > most || got[""] == 0 {
		t.Errorf("%d lines, want at most %d: %v", got[""], most, got)
	}
	for _, name := range []string{"internal/website/controller.go", "internal/website/controller_test.go"} {
		if got := strings.Count(files[name], "\n"); got > most {
			t.Errorf("%s has %d lines, want at most %d", name, got, most)
		}
	}
}

// code counts the lines of code.
func code(text string) (lines int) {
	imports := false
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "import (":
			imports = true
		case imports:
			imports = line != ")"
		case line == "", strings.HasPrefix(line, "//"), strings.HasPrefix(line, "package "), strings.HasPrefix(line, "import "):
		default:
			lines++
		}
	}
	return lines
}

// TestErrors checks that an invalid request is an error that names the flag and the accepted value.
func TestErrors(t *testing.T) {
	t.Parallel()
	there, err := scaffold.API{Version: "v1", Kind: "Website"}.Files(project(t))
	if err != nil {
		t.Fatal(err)
	}
	full := project(t)
	maps.Copy(full, there)
	unmarked := project(t)
	unmarked["main.go"] = strings.ReplaceAll(unmarked["main.go"], "//reconcilekit:imports", "")
	for name, c := range map[string]struct {
		files scaffold.Files
		api   scaffold.API
		want  string
	}{
		"kind":         {full, scaffold.API{Version: "v1", Kind: "website"}, `--kind "website": want a kind such as Website`},
		"version":      {full, scaffold.API{Version: "1", Kind: "Box"}, `--version "1"`},
		"group":        {full, scaffold.API{Group: "My Group.x", Version: "v1", Kind: "Box"}, `--group "My Group.x"`},
		"twice":        {full, scaffold.API{Version: "v1", Kind: "Website"}, "already exists"},
		"other group":  {full, scaffold.API{Group: "shelf", Version: "v1", Kind: "Box"}, "is not of the group shelf.example.com"},
		"no project":   {scaffold.Files{}, scaffold.API{Version: "v1", Kind: "Box"}, "run reconcilekit init first"},
		"lost markers": {unmarked, scaffold.API{Version: "v1", Kind: "Box"}, "//reconcilekit:imports"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := c.api.Files(c.files); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	_, err = scaffold.Project{Name: "My Shop", Domain: "local", Module: "a b"}.Files()
	for _, want := range []string{`--name "My Shop"`, `--domain "local"`, `--module "a b"`, "--sdk-version"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestKubebuilder checks the files of a kubebuilder project with one and with several groups.
func TestKubebuilder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		multi bool
		want  []string
		name  string
	}{
		{false, []string{"internal/controller/page_controller.go", "internal/controller/page_controller_test.go"}, "package controller"},
		{true, []string{"internal/controller/shop/page_controller.go", "internal/controller/shop/page_controller_test.go"}, "package shop"},
	} {
		files, err := scaffold.API{
			Project: scaffold.Project{Module: "example.com/m", Domain: "example.com"}, Group: "shop", Version: "v1", Kind: "Page", MultiGroup: c.multi,
		}.Kubebuilder()
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, c.want) {
			t.Errorf("files %v, want %v", got, c.want)
		}
		if text := files[c.want[0]]; !strings.HasPrefix(text, c.name+"\n") || !strings.Contains(text, "groups=shop.example.com,resources=pages,") {
			t.Errorf("the controller:\n%s", text)
		}
	}
}
