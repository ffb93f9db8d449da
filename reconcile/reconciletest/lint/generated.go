package lint

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// EnvUpdate names the environment variable that makes [Generated] write: any
// value but the empty one.
const EnvUpdate = "UPDATE_GOLDEN"

// Generated compares files that are checked in with what is generated now, by
// path below the folder of the test, such as docs/dataflow.md and
// config/rbac/role.yaml with what a dataflow.Page says. A file that is missing
// or differs fails the test. With [EnvUpdate] it writes what differs, folders
// too, so that one test both generates and holds to it:
//
//	//go:generate env -u CI -u KUBEBUILDER_ASSETS UPDATE_GOLDEN=1 go test -count=1 -run=^TestGenerated$ .
//
// Without the variables that are taken away there no API server is started for it.
func Generated(t testing.TB, files map[string]string) {
	t.Helper()

	paths := make([]string, 0, len(files))
	for path := range files {
		paths = append(paths, path)
	}

	slices.Sort(paths)

	for _, path := range paths {
		got, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("read what is checked in: %v", err)
		}

		diff := cmp.Diff(string(got), files[path])

		switch {
		case err == nil && diff == "":
		case os.Getenv(EnvUpdate) != "":
			writeGenerated(t, path, files[path])
		case err != nil:
			t.Errorf("%s is missing; %s=1 writes it", path, EnvUpdate)
		default:
			t.Errorf("%s is not what is generated now (-checked in +generated); %s=1 writes it:\n%s", path, EnvUpdate, diff)
		}
	}
}

func writeGenerated(t testing.TB, path, content string) {
	t.Helper()

	// The files are for everybody who checks them out.
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(content), 0o644)
	}

	if err != nil {
		t.Fatalf("write what is generated: %v", err)
	}
}
