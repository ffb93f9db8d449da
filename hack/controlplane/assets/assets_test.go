package assets

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write creates a source folder like this module's, with the given Kubernetes version.
func write(t *testing.T, version string) string {
	t.Helper()

	source := t.TempDir()
	files := map[string]string{
		"go.mod": "module " + modulePath + "\n\nrequire (\n\tk8s.io/kubernetes " + version +
			"\n\tk8s.io/kubernetes-extra v9.9.9\n\tgo.etcd.io/etcd/server/v3 v3.7.3\n)\n",
		"go.sum": "sums\n", "kwok/go.sum": "",
		"kwok/go.mod": "module x\n\nrequire (\n\tsigs.k8s.io/kwok v0.8.0 // indirect\n)\n",
	}

	for name, content := range files {
		path := filepath.Join(source, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	return source
}

func TestReadVersion(t *testing.T) {
	t.Parallel()

	source := write(t, "v1.36.3")
	want := map[string]string{"etcd": "v3.7.3", "kube-apiserver": "v1.36.3", "kwok": "v0.8.0"}

	for _, c := range components() {
		version, ok := want[c.name]
		if !ok {
			continue
		}

		if got, err := readVersion(source, c); err != nil || got != version {
			t.Errorf("readVersion(%s) = %q, %v, want %q", c.name, got, err, version)
		}
	}
}

// TestPinsOfThisModule reads the go.mod files of this module, so that an unreadable version fails this test and not a
// user's first make.
func TestPinsOfThisModule(t *testing.T) {
	t.Parallel()

	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}

	source, err := findSource(dir)
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range components() {
		version, err := readVersion(source, c)
		if err != nil {
			t.Error(err)
		}

		if _, err := stamp(source, c, version); err != nil {
			t.Error(err)
		}
	}

	// The staging modules in the replace directives must be of the same release.
	data, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}

	version, err := readVersion(source, components()[1])
	if err != nil {
		t.Fatal(err)
	}

	want := "v0" + strings.TrimPrefix(version, "v1")
	for line := range strings.Lines(string(data)) {
		if _, replacement, found := strings.Cut(line, "=>"); found && !strings.HasSuffix(strings.TrimSpace(replacement), " "+want) {
			t.Errorf("kubernetes is %s, so want %s in: %s", version, want, line)
		}
	}
}

// TestVersionsOfTheLibrary checks that the library and the control plane require the same versions of shared modules, so
// that they share the build cache.
func TestVersionsOfTheLibrary(t *testing.T) {
	t.Parallel()

	ours := requirements(t, filepath.Join("..", "go.mod"))

	for _, file := range []string{"../../../go.mod", "../../../examples/go.mod", "../../demo/go.mod"} {
		for module, version := range requirements(t, file) {
			// v0.0.0 is the version of Kubernetes modules that go.mod replaces.
			if want, shared := ours[module]; shared && want != "v0.0.0" && version != want {
				t.Errorf("%s requires %s %s, and hack/controlplane/go.mod requires %s: see docs/versions.md", file, module, version, want)
			}
		}
	}
}

// requirements returns the versions that a go.mod file requires, by module.
func requirements(t *testing.T, file string) map[string]string {
	t.Helper()

	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	versions := map[string]string{}

	for line := range strings.Lines(string(data)) {
		words := strings.Fields(strings.TrimPrefix(line, "require "))
		if len(words) > 1 && strings.HasPrefix(words[1], "v") {
			versions[words[0]] = words[1]
		}
	}

	if len(versions) == 0 {
		t.Fatalf("%s requires no module", file)
	}

	return versions
}

func TestFindSource(t *testing.T) {
	t.Parallel()

	base := t.TempDir()
	module := filepath.Join(base, "hack", "controlplane")
	deep := filepath.Join(base, "docs", "promises")

	for _, dir := range []string{module, deep} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}

	if err := os.WriteFile(filepath.Join(module, "go.mod"), []byte("module "+modulePath+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	for _, from := range []string{base, module, deep} {
		if got, err := findSource(from); err != nil || got != module {
			t.Errorf("findSource(%s) = %q, %v, want %q", from, got, err, module)
		}
	}

	if _, err := findSource(t.TempDir()); err == nil || !strings.Contains(err.Error(), "inside the repository") {
		t.Errorf("outside the repository: want an error, got %v", err)
	}
}

// TestOutdated checks when binaries count as out of date: before the build, after it, after a new version and after a
// removal.
func TestOutdated(t *testing.T) {
	t.Parallel()

	source, folder := write(t, "v1.36.3"), t.TempDir()
	wanted, err := pick([]string{"kube-apiserver", "etcd"})
	if err != nil {
		t.Fatal(err)
	}

	names := func(source string) string {
		t.Helper()

		stale, err := outdated(folder, source, wanted)
		if err != nil {
			t.Fatal(err)
		}

		return join(stale)
	}

	if got := names(source); got != "etcd, kube-apiserver" {
		t.Errorf("in an empty folder %q is out of date, want both in build order", got)
	}

	for _, c := range wanted {
		version, err := readVersion(source, c)
		if err != nil {
			t.Fatal(err)
		}

		sum, err := stamp(source, c, version)
		if err != nil {
			t.Fatal(err)
		}

		for path, content := range map[string]string{filepath.Join(folder, c.name): "binary", stampFile(folder, c): sum} {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}

	if got := names(source); got != "" {
		t.Errorf("after the build %q is out of date, want none", got)
	}

	if got := names(write(t, "v1.36.4")); got != "etcd, kube-apiserver" {
		t.Errorf("after a new kubernetes version %q is out of date, want all that its go.mod pins", got)
	}

	if err := os.Remove(filepath.Join(folder, "etcd")); err != nil {
		t.Fatal(err)
	}

	if got := names(source); got != "etcd" {
		t.Errorf("after etcd was removed %q is out of date, want etcd", got)
	}
}

func TestPickRefusesUnknownNames(t *testing.T) {
	t.Parallel()

	_, err := pick([]string{"etcd", "kubectl"})
	if err == nil || !strings.Contains(err.Error(), `"kubectl"`) || !strings.Contains(err.Error(), "kube-scheduler") {
		t.Errorf("want an error that lists kubectl and the components, got %v", err)
	}
}

func TestGivenFolderWins(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(EnvAssets, folder)

	options := Options{Names: []string{"etcd"}, Progress: &bytes.Buffer{}}

	_, err := Ensure(t.Context(), options)
	if err == nil || !strings.Contains(err.Error(), "no usable etcd") {
		t.Errorf("a given folder without etcd: want an error, got %v", err)
	}

	if err := os.WriteFile(filepath.Join(folder, "etcd"), nil, 0o600); err != nil {
		t.Fatal(err)
	}

	if got, err := Ensure(t.Context(), options); err != nil || got != folder {
		t.Errorf("Ensure() = %q, %v, want the given folder %q", got, err, folder)
	}
}

func TestBuiltName(t *testing.T) {
	t.Parallel()

	want := map[string]string{"etcd": "server", "kube-apiserver": "kube-apiserver", "kwok": "kwok"}

	for _, c := range components() {
		if name, ok := want[c.name]; ok && builtName(c) != name {
			t.Errorf("builtName(%s) = %q, want %q", c.name, builtName(c), name)
		}
	}
}

func TestLinkerFlagsStampTheVersion(t *testing.T) {
	t.Parallel()

	flags := linkerFlags(kubernetes, "v1.36.3")
	for _, want := range []string{
		"component-base/version.gitVersion=v1.36.3", "component-base/version.gitMajor=1", "component-base/version.gitMinor=36",
	} {
		if !strings.Contains(flags, want) {
			t.Errorf("want %s in %q", want, flags)
		}
	}
}

func TestMeter(t *testing.T) {
	t.Parallel()

	var out bytes.Buffer

	m := newMeter(&out, "etcd v3")
	for _, chunk := range []string{"go: downloading a v1\ngo: down", "loading b v1\nk8s.io/api\nk8s.io/", "client\n# k8s.io/client\nx.go:1: undefined: y\n"} {
		if _, err := m.Write([]byte(chunk)); err != nil {
			t.Fatal(err)
		}
	}

	m.start()()

	m.total = 7
	m.report(false)
	m.report(true)

	running, final, _ := strings.Cut(out.String(), "\n")
	if !strings.HasPrefix(running, "control plane: etcd v3: 2 of 7 packages compiled, 5 left, 2 modules fetched, ") {
		t.Errorf("while it runs: %q", running)
	}

	if !strings.HasPrefix(final, "control plane: etcd v3: 2 packages compiled, 2 modules fetched, ") {
		t.Errorf("at the end: %q", final)
	}

	if got := m.tail(); got != "# k8s.io/client\nx.go:1: undefined: y\n" {
		t.Errorf("tail() = %q, want the compiler's output", got)
	}
}
