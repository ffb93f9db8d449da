package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"

	"github.com/reconcilekit/reconcilekit/hack/controlplane/assets"
)

// state is the input of Stop. It is written before and after the start of each process, so that every process is recorded.
type state struct {
	OwnerPID  int       `json:"ownerPID,omitempty"`
	Processes []process `json:"processes"`
}

const stateFile = "state.json"

// clustersRoot returns the folder with one folder per running cluster.
func clustersRoot() (string, error) {
	root, err := assets.CacheRoot()
	if err != nil {
		return "", err
	}

	return filepath.Join(root, "clusters"), nil
}

// folderOf returns the folder of the named cluster.
func folderOf(name string) (string, error) {
	if !regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`).MatchString(name) {
		return "", fmt.Errorf("cluster name %q: want at most 40 lower case letters, digits and dashes inside", name)
	}

	root, err := clustersRoot()

	return filepath.Join(root, name), err
}

func (s state) save(dir string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the state: %w", err)
	}

	scratch := filepath.Join(dir, stateFile+".new")
	if err := os.WriteFile(scratch, data, 0o600); err != nil {
		return err
	}

	return os.Rename(scratch, filepath.Join(dir, stateFile))
}

func load(dir string) (state, error) {
	data, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		return state{}, err
	}

	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return state{}, fmt.Errorf("read %s: %w", filepath.Join(dir, stateFile), err)
	}

	return s, nil
}

// running reports whether exactly the named components of the cluster in dir run.
func running(ctx context.Context, dir string, names []string) bool {
	s, err := load(dir)
	if err != nil || len(s.Processes) != len(names) {
		return false
	}

	return !slices.ContainsFunc(s.Processes, func(p process) bool { return !p.alive(ctx, dir) })
}

// Stop ends the processes of the named cluster, last started first, and removes its folder. A cluster that does not run is not an error.
func Stop(ctx context.Context, name string, progress io.Writer) error {
	dir, err := folderOf(name)
	if err != nil {
		return err
	}

	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(progress, "control plane: cluster %q is not running\n", name)

		return nil
	}

	if err := stopIn(ctx, dir); err != nil {
		return err
	}

	fmt.Fprintf(progress, "control plane: cluster %q stopped and removed\n", name)

	return nil
}

func stopIn(ctx context.Context, dir string) error {
	s, err := load(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}

	var failed error
	for _, p := range slices.Backward(s.Processes) {
		failed = errors.Join(failed, p.stop(ctx, dir))
	}

	if failed != nil {
		return failed
	}

	return os.RemoveAll(dir)
}

// sweep stops clusters whose owner has ended, for example a killed demo.
func sweep(ctx context.Context, progress io.Writer) error {
	root, err := clustersRoot()
	if err != nil {
		return err
	}

	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("list the running clusters: %w", err)
	}

	for _, entry := range entries {
		dir := filepath.Join(root, entry.Name())

		s, err := load(dir)
		if err != nil || s.OwnerPID == 0 || !errors.Is(syscall.Kill(s.OwnerPID, 0), syscall.ESRCH) {
			continue
		}

		fmt.Fprintf(progress, "control plane: removing cluster %q, whose owner process ended\n", entry.Name())

		if err := stopIn(ctx, dir); err != nil {
			return err
		}
	}

	return nil
}
