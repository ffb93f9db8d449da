package tenant

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/reconcilekit/reconcilekit/manifests"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

//go:embed platform
var builtIn embed.FS

//go:embed templates/*.yaml
var files embed.FS

const paramsFile = "params.env"

// renderer renders the platform from a kustomize overlay. It reads the files on demand and never writes them: parameters are passed
// in memory.
type renderer struct {
	scheme    *runtime.Scheme
	templates *manifests.Set // added to the overlay
	files     filesys.FileSystem
	folder    string

	mu    sync.Mutex
	given settings // of the last rendering
	last  []manifests.Object
}

// newRenderer returns a renderer of the overlay in the folder, or of the built-in one.
func newRenderer(folder string) (*renderer, error) {
	set, err := models.Children[settings](files)
	r := &renderer{scheme: runtime.NewScheme(), templates: set.Manifests, files: filesys.MakeFsOnDisk(), folder: folder}
	if err := errors.Join(err, models.AddToScheme(r.scheme)); err != nil || folder != "" {
		return r, err
	}
	r.files, r.folder = filesys.MakeFsInMemory(), "/platform"
	paths, err := fs.Glob(builtIn, "platform/*")
	for _, path := range paths {
		content, readErr := builtIn.ReadFile(path)
		err = errors.Join(err, readErr, r.files.WriteFile("/"+path, content))
	}
	return r, err
}

// render returns the objects for the settings. Callers must not change them. The result for the last settings is cached.
func (r *renderer) render(s settings) ([]manifests.Object, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil && reflect.DeepEqual(r.given, s) {
		return r.last, nil
	}
	objects, err := r.build(s.params())
	if err == nil {
		objects, err = r.finish(s, objects)
	}
	if err != nil {
		return nil, fmt.Errorf("platform in %s: %w", r.folder, err)
	}
	r.given, r.last = s, objects
	return objects, nil
}

// build runs kustomize with the parameters, which override those of the overlay.
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
	options.LoadRestrictions = types.LoadRestrictionsNone // an overlay may refer to bases in sibling folders
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

// withFile is a file system that replaces the content of one file.
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

// override replaces values in lines of the form key=value and appends missing keys.
func override(given string, params map[string]string) []byte {
	var others strings.Builder
	for line := range strings.Lines(given) {
		key, _, _ := strings.Cut(strings.TrimSpace(line), "=")
		if _, set := params[key]; !set {
			others.WriteString(strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	return []byte(others.String() + linesOf(params))
}

// linesOf returns sorted lines, so that equal parameters result in equal text.
func linesOf(params map[string]string) string {
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(params)) {
		text.WriteString(key + "=" + params[key] + "\n")
	}
	return text.String()
}

// Granted returns the permissions that the roles of the built-in platform grant.
func Granted() (rules []rbacv1.PolicyRule, err error) {
	r, err := newRenderer("")
	objects, buildErr := r.build(nil)
	for _, object := range objects {
		if kindOf(object) == "ClusterRole" {
			err = errors.Join(err, manifests.Change(object, func(role *rbacv1.ClusterRole) { rules = append(rules, role.Rules...) }))
		}
	}
	return rules, errors.Join(err, buildErr)
}

// Services returns the Services of the built-in platform.
func Services() []dataflow.Service {
	return []dataflow.Service{{Name: apiName, Port: 8443, PortName: "https"}, {Name: "payload-processing", Port: 9004}}
}
