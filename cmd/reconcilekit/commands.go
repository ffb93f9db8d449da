package main

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/reconcilekit/reconcilekit/cmd/reconcilekit/internal/scaffold"
)

// unreleased is the required version if a checkout replaces the module.
const unreleased = "v0.0.0-00010101000000-000000000000"

func root() *cobra.Command {
	command := &cobra.Command{
		Use: "reconcilekit", Short: "Create operators with reconcilekit", SilenceErrors: true, SilenceUsage: true,
	}
	create := &cobra.Command{Use: "create", Short: "Add to the project in this folder"}
	create.AddCommand(createAPI(), createVersion(), createWebhook())
	command.AddCommand(initProject(), create)
	return command
}

func initProject() *cobra.Command {
	project := scaffold.Project{}
	command := &cobra.Command{
		Use: "init", Short: "Create an operator without kinds in this empty folder", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			folder, err := os.Getwd()
			if err != nil {
				return err
			}
			if project.Name == "" {
				project.Name = strings.ToLower(filepath.Base(folder))
			}
			if project.Module == "" {
				project.Module = project.Domain + "/" + project.Name
			}
			if project.Replace != "" {
				project.SDK = unreleased
			} else if project.SDK == "" {
				project.SDK = released()
			}
			files, err := project.Files()
			if err != nil {
				return err
			}
			for name := range files {
				if _, err := os.Stat(name); err == nil {
					return fmt.Errorf("%s already exists: want an empty folder", name)
				}
			}
			return write(command, files)
		},
	}
	flags := command.Flags()
	flags.StringVar(&project.Domain, "domain", "", "end of the API groups, such as example.com")
	flags.StringVar(&project.Name, "name", "", "name of the operator (default the name of the folder)")
	flags.StringVar(&project.Module, "module", "", "path of the Go module (default domain/name)")
	flags.StringVar(&project.SDK, "sdk-version", "", "version of reconcilekit (default the one of this command)")
	flags.StringVar(&project.Replace, "replace", "", "folder with a checkout of reconcilekit, used instead of a version")
	return command
}

// released returns the version of this command, empty for one built from a checkout.
func released() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || !strings.HasPrefix(info.Main.Version, "v") || strings.Contains(info.Main.Version, "+dirty") {
		return ""
	}
	return info.Main.Version
}

func createAPI() *cobra.Command {
	api := &scaffold.API{}
	return addition("api", "Add a kind with its controller, its test and a sample", api, api, "v1alpha1", "version of the API")
}

func createVersion() *cobra.Command {
	version := &scaffold.Version{}
	command := addition("version", "Add an API version to a kind of the project, with its conversion, its test and a sample",
		version, &version.API, "", "new version of the API, such as v1beta1")
	command.Flags().StringVar(&version.Hub, "hub", "", "existing version that is stored and reconciled, to which the others convert, such as v1")
	return command
}

func createWebhook() *cobra.Command {
	webhook := &scaffold.Webhook{}
	command := addition("webhook", "Add the admission webhooks of a kind of the project, with their test and their manifests",
		webhook, &webhook.API, "", "version of the API (default the only one of the kind)")
	command.Flags().BoolVar(&webhook.Defaulting, "defaulting", true, "set defaults")
	command.Flags().BoolVar(&webhook.Validation, "validation", true, "validate")
	return command
}

// filer is a pointer to the files to add for a kind; its Files is called when the flags are set.
type filer interface {
	Files(existing scaffold.Files) (scaffold.Files, error)
}

// addition returns a command that adds files for the kind in api. version is the default of its flag, usage its description.
func addition(name, short string, adds filer, api *scaffold.API, version, usage string) *cobra.Command {
	generate := true
	command := &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return change(command, adds.Files, generate) },
	}
	flags := command.Flags()
	flags.StringVar(&api.Group, "group", "", "API group of the kind; a name without a dot is prefixed to the domain (default the domain)")
	flags.StringVar(&api.Version, "version", version, usage)
	flags.StringVar(&api.Kind, "kind", "", "kind, such as Website")
	flags.BoolVar(&generate, "generate", true, "run make generate afterwards")
	return command
}

// change writes the changed files of the project, and runs the following steps.
func change(command *cobra.Command, files func(scaffold.Files) (scaffold.Files, error), generate bool) error {
	existing, err := read()
	if err != nil {
		return err
	}
	changed, err := files(existing)
	if err != nil {
		return err
	}
	if err := write(command, changed); err != nil || !generate {
		return err
	}
	fmt.Fprintln(command.OutOrStdout(), "make generate: writes what follows from the declarations; the first time it compiles Kubernetes, which takes minutes")
	defer reportProgress(command.ErrOrStderr(), "make generate", progressInterval)()
	return execute(command, "make", "generate")
}

// progressInterval is the time between two lines about a command that runs.
const progressInterval = 20 * time.Second

// reportProgress prints how long a command has run, at each interval, until the returned function is called.
func reportProgress(out io.Writer, name string, interval time.Duration) (stop func()) {
	start, ticker, done := time.Now(), time.NewTicker(interval), make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case now := <-ticker.C:
				fmt.Fprintf(out, "%s: running for %s\n", name, now.Sub(start).Round(time.Second))
			case <-done:
				return
			}
		}
	})
	return func() {
		ticker.Stop()
		close(done)
		running.Wait()
	}
}

// read reads the project's files that a new kind may change.
func read() (scaffold.Files, error) {
	files := scaffold.Files{}
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		switch filepath.Ext(name) {
		case ".go", ".mod", ".yaml":
			text, err := os.ReadFile(name) //nolint:gosec // a file that the user names
			files[filepath.ToSlash(name)] = string(text)
			return err
		}
		return nil
	})
	return files, err
}

func write(command *cobra.Command, files scaffold.Files) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.FromSlash(name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // sources of a project, which others may read
			return err
		}
		if err := os.WriteFile(file, []byte(files[name]), 0o644); err != nil { //nolint:gosec // as above
			return err
		}
		fmt.Fprintln(command.OutOrStdout(), "wrote", name)
	}
	return nil
}

func execute(command *cobra.Command, name string, args ...string) error {
	child := exec.CommandContext(command.Context(), name, args...) //nolint:gosec // a command of this program
	child.Stdout, child.Stderr = command.OutOrStdout(), command.ErrOrStderr()
	if err := child.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}
