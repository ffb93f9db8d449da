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

// EnvUpdate is the environment variable that makes [Generated] write files, with any value except the empty one.
const EnvUpdate = "UPDATE_GOLDEN"

// Generated compares checked-in files with their generated content, by path below the folder of the test, such as docs/dataflow.md and
// config/rbac/role.yaml with a dataflow.Page. A missing or different file fails the test. With [EnvUpdate] it writes different files and
// missing folders, so that one test both generates and checks them:
//
//	//go:generate env -u CI -u KUBEBUILDER_ASSETS UPDATE_GOLDEN=1 go test -count=1 -run=^TestGenerated$ .
//
// The command unsets two variables so that it does not start an API server.
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
			t.Fatalf("read the checked-in file: %v", err)
		}

		diff := cmp.Diff(string(got), files[path])

		switch {
		case err == nil && diff == "":
		case os.Getenv(EnvUpdate) != "":
			writeGenerated(t, path, files[path])
		case err != nil:
			t.Errorf("%s is missing; %s=1 writes it", path, EnvUpdate)
		default:
			t.Errorf("%s differs from the generated content (-checked in +generated); %s=1 writes it:\n%s", path, EnvUpdate, diff)
		}
	}
}

func writeGenerated(t testing.TB, path, content string) {
	t.Helper()

	// Every user of the repository may read the files.
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(content), 0o644)
	}

	if err != nil {
		t.Fatalf("write the generated file: %v", err)
	}
}
