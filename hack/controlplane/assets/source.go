package assets

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

const modulePath = "github.com/reconcilekit/reconcilekit/hack/controlplane"

// findSource returns the folder of this module: dir, one above it, or
// hack/controlplane in one of these.
func findSource(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		for _, candidate := range []string{at, filepath.Join(at, "hack", "controlplane")} {
			data, err := os.ReadFile(filepath.Join(candidate, "go.mod"))
			if err == nil && strings.HasPrefix(string(data), "module "+modulePath+"\n") {
				return candidate, nil
			}
		}

		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no go.mod of %s in or above %s: run this inside the repository", modulePath, dir)
		}
	}
}

// readVersion returns the version of c in its go.mod.
func readVersion(source string, c component) (string, error) {
	file := filepath.Join(source, c.module, "go.mod")

	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read the version of %s: %w", c.name, err)
	}

	found := regexp.MustCompile(`(?m)^(?:require|\t)\s*` + regexp.QuoteMeta(c.require) + ` (v\S+)`).FindSubmatch(data)
	if found == nil {
		return "", fmt.Errorf("%s requires no %s", file, c.require)
	}

	return string(found[1]), nil
}

// stamp identifies the source of a binary of c: the content of its go.mod and go.sum, and the flags. A binary with another stamp is
// outdated.
func stamp(source string, c component, version string) (string, error) {
	hash := sha256.New()

	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(source, c.module, name))
		if err != nil {
			return "", fmt.Errorf("read the sources of %s: %w", c.name, err)
		}

		fmt.Fprintf(hash, "%s %d\n%s\n", name, len(data), data)
	}

	fmt.Fprintln(hash, c.pkg, linkerFlags(c.require, version))

	return hex.EncodeToString(hash.Sum(nil)), nil
}

// CacheRoot returns the folder of the built components and running clusters: reconcilekit/controlplane in [os.UserCacheDir].
func CacheRoot() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", errors.Join(errors.New("find the cache folder; XDG_CACHE_HOME or HOME must be set"), err)
	}

	return filepath.Join(cache, "reconcilekit", "controlplane"), nil
}

// cacheFolder returns the folder of the components of these versions.
func cacheFolder(source string) (string, error) {
	root, err := CacheRoot()
	if err != nil {
		return "", err
	}

	var parts []string

	for _, c := range components() {
		version, err := readVersion(source, c)
		if err != nil {
			return "", err
		}

		part := filepath.Base(strings.TrimSuffix(strings.TrimSuffix(c.require, "/v3"), "/server")) + "-" + version
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}

	parts = append(parts, runtime.GOOS+"-"+runtime.GOARCH)

	return filepath.Join(root, strings.Join(parts, "_")), nil
}
