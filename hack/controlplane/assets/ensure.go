package assets

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// EnvAssets is the environment variable with a folder that replaces the cache; controller-runtime's envtest uses it, too.
const EnvAssets = "KUBEBUILDER_ASSETS"

// Stages is the name of the file next to the kwok binary with the stages of nodes and pods; kwok does nothing without it.
const Stages = "kwok-stages.yaml"

// Options configures [Ensure].
type Options struct {
	// Names are the requested components, see [Names]. Empty means none.
	Names []string
	// Index is the URL of a list of archives with etcd and kube-apiserver, as for setup-envtest. If a download fails, it is reported, and
	// they are built. Empty downloads nothing.
	Index string
	// Progress receives progress messages. Required.
	Progress io.Writer
}

// Ensure returns the absolute path of a folder with the requested components, and builds those that are missing or outdated. Several
// processes may call it concurrently: one builds, the others wait.
func Ensure(ctx context.Context, options Options) (string, error) {
	wanted, err := pick(options.Names)
	if err != nil {
		return "", err
	}

	if given := os.Getenv(EnvAssets); given != "" {
		return checkGiven(given, wanted)
	}

	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the source folder: %w", err)
	}

	source, err := findSource(dir)
	if err != nil {
		return "", err
	}

	folder, err := cacheFolder(source)
	if err != nil {
		return "", err
	}

	return folder, ensureIn(ctx, folder, source, wanted, options)
}

// ensureIn downloads or builds the outdated components in folder, under a lock.
func ensureIn(ctx context.Context, folder, source string, wanted []component, options Options) error {
	progress := options.Progress

	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("create the assets folder: %w", err)
	}

	if stale, err := outdated(folder, source, wanted); err != nil || len(stale) == 0 {
		return err
	}

	unlock, err := lock(ctx, filepath.Join(folder, ".lock"), progress)
	if err != nil {
		return err
	}
	defer unlock()

	// Another process may have built them while this one waited.
	stale, err := outdated(folder, source, wanted)
	if err != nil || len(stale) == 0 {
		return err
	}

	if stale = download(ctx, options.Index, folder, source, stale, progress); len(stale) == 0 {
		return nil
	}

	announce(progress, folder, stale)

	began := time.Now()

	for _, group := range byVersion(stale) {
		if err := buildGroup(ctx, folder, source, group, progress); err != nil {
			return err
		}
	}

	fmt.Fprintf(progress, "control plane: built %s in %s\n", join(stale), time.Since(began).Round(time.Second))

	return nil
}

// checkGiven returns the absolute path of the user's folder, if it has the requested components.
func checkGiven(given string, wanted []component) (string, error) {
	folder, err := filepath.Abs(given)
	if err != nil {
		return "", fmt.Errorf("resolve %s=%s: %w", EnvAssets, given, err)
	}

	for _, c := range wanted {
		if _, err := os.Stat(filepath.Join(folder, c.name)); err != nil {
			return "", fmt.Errorf("%s=%s has no usable %s (%w): add it, or unset the variable to build it",
				EnvAssets, given, c.name, err)
		}
	}

	return folder, nil
}

// outdated returns the components whose binary is missing or whose stamp differs from the current source.
func outdated(folder, source string, wanted []component) ([]component, error) {
	var stale []component

	for _, c := range wanted {
		version, err := readVersion(source, c)
		if err != nil {
			return nil, err
		}

		want, err := stamp(source, c, version)
		if err != nil {
			return nil, err
		}

		got, err := os.ReadFile(stampFile(folder, c))
		if err != nil || string(got) != want {
			stale = append(stale, c)

			continue
		}

		if _, err := os.Stat(filepath.Join(folder, c.name)); err != nil {
			stale = append(stale, c)
		}
	}

	return stale, nil
}

func stampFile(folder string, c component) string {
	return filepath.Join(folder, "."+c.name+".stamp")
}

// byVersion splits picked into groups that one go command builds with the same linker flags.
func byVersion(picked []component) [][]component {
	var groups [][]component

	for _, c := range picked {
		if last := len(groups) - 1; last >= 0 && groups[last][0].require == c.require {
			groups[last] = append(groups[last], c)

			continue
		}

		groups = append(groups, []component{c})
	}

	return groups
}

func join(picked []component) string {
	names := make([]string, 0, len(picked))
	for _, c := range picked {
		names = append(names, c.name)
	}

	return strings.Join(names, ", ")
}
