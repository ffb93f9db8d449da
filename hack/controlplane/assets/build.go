package assets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// coldMinutes is the approximate build time of all components on two cores with empty module and build caches.
const coldMinutes = 11

func announce(progress io.Writer, folder string, stale []component) {
	share := coldMinutes * len(stale) / len(components())
	if slices.ContainsFunc(stale, func(c component) bool { return c.require == kubernetes }) {
		share = max(share, coldMinutes/2)
	}

	fmt.Fprintf(progress, "control plane: building %s into %s, about %d minutes on 2 cores when nothing is cached\n",
		join(stale), folder, max(share, 1))
}

// buildGroup compiles components of one module with one go command and moves each into folder atomically.
func buildGroup(ctx context.Context, folder, source string, group []component, progress io.Writer) error {
	version, err := readVersion(source, group[0])
	if err != nil {
		return err
	}

	scratch, err := os.MkdirTemp(folder, ".build-")
	if err != nil {
		return fmt.Errorf("create a temporary folder: %w", err)
	}
	defer os.RemoveAll(scratch)

	module := filepath.Join(source, group[0].module)
	args := []string{
		"build", "-v", "-buildvcs=false",
		"-ldflags", linkerFlags(group[0].require, version), "-o", scratch + string(filepath.Separator),
	}

	for _, c := range group {
		args = append(args, c.pkg)
	}

	m := newMeter(progress, join(group)+" "+version)
	m.total = countStale(ctx, module, group, m)

	if err := runGo(ctx, module, args, m); err != nil {
		return fmt.Errorf("build %s %s: %w", join(group), version, err)
	}

	for _, c := range group {
		if err := install(ctx, folder, filepath.Join(scratch, builtName(c)), source, c); err != nil {
			return fmt.Errorf("install %s: %w", c.name, err)
		}
	}

	return nil
}

// countStale returns the number of packages to compile, 0 if it is unknown. m counts the modules that are downloaded for that.
func countStale(ctx context.Context, module string, group []component, m *meter) int {
	args := []string{"list", "-deps", "-buildvcs=false", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}"}
	for _, c := range group {
		args = append(args, c.pkg)
	}

	command := goCommand(ctx, module, args...)
	command.Stderr = m

	stop := m.start()
	out, err := command.Output()
	stop()

	if err != nil {
		return 0
	}

	return len(strings.Fields(string(out)))
}

// runGo runs the go command in a module. Its progress is written to the meter, and the end of its output is part of the error.
func runGo(ctx context.Context, module string, args []string, m *meter) error {
	command := goCommand(ctx, module, args...)
	command.Stderr = m

	stop := m.start()
	err := command.Run()
	stop()
	m.report(true)

	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	if err != nil {
		return fmt.Errorf("go %s in %s: %w\n%s", args[0], module, err, m.tail())
	}

	return nil
}

// goCommand prepares a go command in module with the versions of its go.mod, regardless of the workspace, flags or target in the user's
// environment.
func goCommand(ctx context.Context, module string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = module
	command.Env = append(os.Environ(),
		"PWD="+module, "GOWORK=off", "GOFLAGS=-mod=readonly", "CGO_ENABLED=0",
		"GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	// After an interrupt the go command removes its work folder.
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGINT) }
	command.WaitDelay = 10 * time.Second

	return command
}

// install moves the binary of c into folder and writes its stamp; for kwok also the stages.
func install(ctx context.Context, folder, binary, source string, c component) error {
	if c.name == "kwok" {
		if err := writeStages(ctx, folder, source, c); err != nil {
			return err
		}
	}

	// The stamp is removed first and written last, so that it never describes another binary.
	if err := os.Remove(stampFile(folder, c)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}

	if err := os.Rename(binary, filepath.Join(folder, c.name)); err != nil {
		return err
	}

	version, err := readVersion(source, c)
	if err != nil {
		return err
	}

	sum, err := stamp(source, c, version)
	if err != nil {
		return err
	}

	return os.WriteFile(stampFile(folder, c), []byte(sum), 0o644)
}

// builtName returns the go command's name for the binary of c: the last element of the import path that is not a major version.
func builtName(c component) string {
	elements := strings.Split(c.pkg, "/")
	last := elements[len(elements)-1]

	if len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
		last = elements[len(elements)-2]
	}

	return last
}

// writeStages joins the stages of kwok's module for nodes and pods that become ready immediately.
func writeStages(ctx context.Context, folder, source string, c component) error {
	command := goCommand(ctx, filepath.Join(source, c.module), "list", "-m", "-f", "{{.Dir}}", c.require)

	out, err := command.Output()
	if err != nil {
		return fmt.Errorf("find the module of kwok: %w", err)
	}

	module := strings.TrimSpace(string(out))

	var documents [][]byte

	for _, fast := range []string{"node", "pod"} {
		pattern := filepath.Join(module, "kustomize", "stage", fast, "fast", fast+"-*.yaml")

		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			return fmt.Errorf("no stages at %s: %w", pattern, errors.Join(err, os.ErrNotExist))
		}

		for _, file := range files {
			document, err := os.ReadFile(file)
			if err != nil {
				return fmt.Errorf("read a stage of kwok: %w", err)
			}

			documents = append(documents, document)
		}
	}

	return os.WriteFile(filepath.Join(folder, Stages), bytes.Join(documents, []byte("\n---\n")), 0o644)
}
