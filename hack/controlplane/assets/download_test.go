package assets

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// zipped returns an archive in the format of setup-envtest.
func zipped(t *testing.T, names ...string) []byte {
	t.Helper()

	var out bytes.Buffer

	zip := gzip.NewWriter(&out)
	entries := tar.NewWriter(zip)

	for _, name := range names {
		content := "binary of " + name
		if err := entries.WriteHeader(&tar.Header{Name: "controller-tools/envtest/" + name, Mode: 0o755, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}

		if _, err := entries.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}

	if err := entries.Close(); err != nil {
		t.Fatal(err)
	}

	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}

	return out.Bytes()
}

// mirror serves an index of several versions and the archive of v1.36.7.
func mirror(t *testing.T, content []byte, hash string) string {
	t.Helper()

	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)

	var index strings.Builder

	index.WriteString("releases:\n")

	for _, version := range []string{"v1.35.9", "v1.36.10-rc.0", "v1.36.2", "v1.36.7", "v1.37.1"} {
		fmt.Fprintf(&index, "  %s:\n", version)

		for _, platform := range []string{"plan9-mips", runtime.GOOS + "-" + runtime.GOARCH} {
			name := "envtest-" + version + "-" + platform + ".tar.gz"
			fmt.Fprintf(&index, "    %s:\n      hash: %s\n      selfLink: %s/%s\n", name, hash, server.URL, name)
		}
	}

	mux.HandleFunc("/index.yaml", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, index.String()) })
	mux.HandleFunc("/envtest-v1.36.7-"+runtime.GOOS+"-"+runtime.GOARCH+".tar.gz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })

	return server.URL + "/index.yaml"
}

func sumOf(content []byte) string {
	sum := sha512.Sum512(content)

	return hex.EncodeToString(sum[:])
}

func TestDownload(t *testing.T) {
	t.Parallel()

	content := zipped(t, "kubectl", "kube-apiserver", "etcd")
	folder, source := t.TempDir(), write(t, "v1.36.3")
	progress := &bytes.Buffer{}

	wanted, err := pick(ServerNames())
	if err != nil {
		t.Fatal(err)
	}

	options := Options{Index: mirror(t, content, sumOf(content)), Progress: progress}
	for range 2 { // the second run finds the downloaded binaries
		if err := ensureIn(t.Context(), folder, source, wanted, options); err != nil {
			t.Fatal(err)
		}
	}

	if got, want := progress.String(), "control plane: downloaded etcd, kube-apiserver of v1.36.7\n"; got != want {
		t.Errorf("progress %q, want %q", got, want)
	}

	for _, name := range ServerNames() {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || string(data) != "binary of "+name {
			t.Errorf("%s is %q, %v", name, data, err)
		}

		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Mode().Perm()&0o100 == 0 {
			t.Errorf("%s cannot be executed: %v", name, err)
		}
	}
}

// TestDownloadFails checks that binaries that cannot be downloaded are left to the build, and that one line gives the
// reason.
func TestDownloadFails(t *testing.T) {
	t.Parallel()

	whole, part := zipped(t, "etcd", "kube-apiserver"), zipped(t, "etcd")

	for name, c := range map[string]struct{ index, version, want string }{
		"no server":   {"http://127.0.0.1:1/index.yaml", "v1.36.3", "connection refused"},
		"no index":    {strings.TrimSuffix(mirror(t, whole, sumOf(whole)), ".yaml"), "v1.36.3", "404 Not Found"},
		"no version":  {mirror(t, whole, sumOf(whole)), "v1.34.0", "the index has no archive of v1.34.x for " + runtime.GOOS},
		"no archive":  {mirror(t, whole, sumOf(whole)), "v1.37.0", "404 Not Found"},
		"wrong hash":  {mirror(t, whole, sumOf(part)), "v1.36.3", "the checksum differs"},
		"no binary":   {mirror(t, part, sumOf(part)), "v1.36.3", "the archive has no kube-apiserver"},
		"no download": {"", "v1.36.3", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			stale, err := pick(Names())
			if err != nil {
				t.Fatal(err)
			}

			folder, progress := t.TempDir(), &bytes.Buffer{}

			left := download(t.Context(), c.index, folder, write(t, c.version), stale, progress)
			if join(left) != join(stale) {
				t.Errorf("left to build: %s, want all", join(left))
			}

			if got := progress.String(); !strings.Contains(got, c.want) || strings.Count(got, "\n") > 1 || (got == "") != (c.want == "") {
				t.Errorf("progress %q, want one line with %q", got, c.want)
			}

			if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
				t.Errorf("the folder has %v, %v, want nothing", entries, err)
			}
		})
	}
}
