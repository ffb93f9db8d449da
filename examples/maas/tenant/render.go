package tenant

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/reconcilekit/reconcilekit/manifests"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/reconcilekit/reconcilekit/examples/maas/backend"
)

//go:embed platform
var builtIn embed.FS

const paramsFile = "params.env"

// renderer makes the objects of the platform from an overlay of kustomize. The
// files are read when they are needed and never written: parameters reach
// kustomize in memory.
type renderer struct {
	scheme *runtime.Scheme
	files  filesys.FileSystem
	folder string

	mu   sync.Mutex
	key  string // of the settings that last was rendered with
	last []manifests.Object
}

// newRenderer takes the overlay in the folder, or the one that is built in.
func newRenderer(folder string) (*renderer, error) {
	r := &renderer{scheme: runtime.NewScheme(), files: filesys.MakeFsOnDisk(), folder: folder}
	if err := backend.AddToScheme(r.scheme); err != nil || folder != "" {
		return r, err
	}
	r.files, r.folder = filesys.MakeFsInMemory(), "/platform"
	return r, fs.WalkDir(builtIn, "platform", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := builtIn.ReadFile(path)
		if err == nil {
			err = r.files.WriteFile("/"+path, content)
		}
		return err
	})
}

// render returns the objects for the settings; the callers must not change
// them. The same settings are rendered once.
func (r *renderer) render(s settings) ([]manifests.Object, error) {
	key, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("settings of the platform: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.key == string(key) {
		return r.last, nil
	}
	objects, err := r.build(s.params())
	if err == nil {
		objects, err = s.finish(objects)
	}
	if err != nil {
		return nil, fmt.Errorf("platform in %s: %w", r.folder, err)
	}
	r.key, r.last = string(key), objects
	return objects, nil
}

// build runs kustomize with the parameters over those of the overlay.
func (r *renderer) build(params map[string]string) ([]manifests.Object, error) {
	folder, _, err := r.files.CleanedAbs(r.folder)
	if err != nil {
		return nil, err
	}
	files := withFile{FileSystem: r.files, path: folder.Join(paramsFile)}
	given, err := r.files.ReadFile(files.path)
	if err != nil {
		return nil, err
	}
	files.content = override(string(given), params)
	options := krusty.MakeDefaultOptions()
	options.LoadRestrictions = types.LoadRestrictionsNone // an overlay's bases are beside it
	built, err := krusty.MakeKustomizer(options).Run(files, folder.String())
	if err != nil {
		return nil, err
	}
	stream, err := built.AsYaml()
	if err != nil {
		return nil, err
	}
	return manifests.Objects("kustomize", string(stream), r.scheme)
}

// withFile is a file system in which one file has another content.
type withFile struct {
	filesys.FileSystem
	path    string
	content []byte
}

// ReadFile implements filesys.FileSystem.
func (f withFile) ReadFile(path string) ([]byte, error) {
	if path == f.path {
		return f.content, nil
	}
	return f.FileSystem.ReadFile(path)
}

// override replaces values in lines of the form key=value and appends the keys
// that have none.
func override(given string, params map[string]string) []byte {
	var out strings.Builder
	missing := maps.Clone(params)
	for line := range strings.Lines(given) {
		key, _, _ := strings.Cut(strings.TrimSpace(line), "=")
		if value, set := params[key]; set {
			line = key + "=" + value + "\n"
			delete(missing, key)
		}
		out.WriteString(strings.TrimSuffix(line, "\n") + "\n")
	}
	for _, key := range slices.Sorted(maps.Keys(missing)) {
		out.WriteString(key + "=" + missing[key] + "\n")
	}
	return []byte(out.String())
}

// Granted are the rights that the roles of the built-in platform grant.
func Granted() ([]rbacv1.PolicyRule, error) {
	r, err := newRenderer("")
	if err != nil {
		return nil, err
	}
	objects, err := r.build(nil)
	var rules []rbacv1.PolicyRule
	for _, object := range objects {
		if role, ok := object.(*rbacv1.ClusterRole); ok {
			rules = append(rules, role.Rules...)
		}
	}
	return rules, err
}
