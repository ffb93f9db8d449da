package lmes

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

var (
	namePattern   = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`)
	valuePattern  = regexp.MustCompile(`^[a-zA-Z0-9._/:\- ]+$`)
	taskPattern   = regexp.MustCompile(`^[a-zA-Z0-9._()-]+$`)
	limitPattern  = regexp.MustCompile(`^(\d+(\.\d+)?|\d*\.\d+)$`)
	batchPattern  = regexp.MustCompile(`^(auto(:\d+)?|\d+)$`)
	branchPattern = regexp.MustCompile(`^[a-zA-Z0-9._/-]+$`)
	commitPattern = regexp.MustCompile(`^[a-fA-F0-9]{7,40}$`)
	gitPattern    = regexp.MustCompile(`^https://[a-zA-Z0-9._/-]+$`)
)

var models = []string{
	"hf", "openai-completions", "openai-chat-completions", "local-completions", "local-chat-completions", "watsonx_llm", "textsynth",
}

// validate returns what is wrong with the spec, empty for nothing.
func validate(spec *v1alpha1.LMEvalJobSpec) string {
	for _, check := range []func(*v1alpha1.LMEvalJobSpec) error{
		checkModel, checkArguments, checkTasks, checkNumbers, checkOutputs, checkOffline, checkGit,
	} {
		if err := check(spec); err != nil {
			return "Input validation failed: " + err.Error()
		}
	}
	if err := checkRecipes(&spec.TaskList); err != nil {
		return err.Error()
	}
	return ""
}

// must returns an error that names the field and its pattern when a value does not match.
func must(field, value string, pattern *regexp.Regexp) error {
	if pattern.MatchString(value) {
		return nil
	}
	return fmt.Errorf("%s %q must match %s", field, value, pattern)
}

func checkModel(spec *v1alpha1.LMEvalJobSpec) error {
	if slices.Contains(models, spec.Model) {
		return nil
	}
	return fmt.Errorf("invalid model: %q must be one of %s", spec.Model, strings.Join(models, ", "))
}

func checkArguments(spec *v1alpha1.LMEvalJobSpec) error {
	for _, list := range []struct {
		kind      string
		arguments []v1alpha1.Argument
	}{{"model", spec.ModelArgs}, {"generation", spec.GenArgs}} {
		for i, a := range list.arguments {
			field := fmt.Sprintf("invalid %s arguments: %s argument[%d] ", list.kind, list.kind, i)
			if err := must(field+"name", a.Name, namePattern); err != nil {
				return err
			}
			if err := must(field+"value", a.Value, valuePattern); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkTasks(spec *v1alpha1.LMEvalJobSpec) error {
	for i, name := range spec.TaskList.TaskNames {
		if err := must(fmt.Sprintf("invalid task names: task name[%d]", i), string(name), taskPattern); err != nil {
			return err
		}
	}
	return nil
}

func checkNumbers(spec *v1alpha1.LMEvalJobSpec) error {
	if spec.Limit != "" {
		if err := must("invalid limit:", spec.Limit, limitPattern); err != nil {
			return err
		}
	}
	if spec.BatchSize != nil {
		return must("invalid batch size:", *spec.BatchSize, batchPattern)
	}
	return nil
}

func checkOutputs(spec *v1alpha1.LMEvalJobSpec) error {
	if spec.Outputs == nil {
		return nil
	}
	if managed := spec.Outputs.PVCManaged; managed != nil {
		size, err := resource.ParseQuantity(managed.Size)
		if err != nil || size.Sign() <= 0 {
			return fmt.Errorf("invalid outputs: pvcManaged.size %q must be a positive quantity, such as 5Gi", managed.Size)
		}
	}
	oci := spec.Outputs.OCI
	if oci == nil {
		return nil
	}
	user, file := oci.Username != nil || oci.Password != nil, oci.DockerConfigJSON != nil
	if user == file || user && (oci.Username == nil || oci.Password == nil) {
		return fmt.Errorf("invalid outputs: oci of repository %q needs either username and password, or dockerConfigJson", oci.Repository)
	}
	if oci.Registry.Name == "" || oci.Registry.Key == "" {
		return fmt.Errorf("invalid outputs: oci.registry of repository %q must name a Secret and a key", oci.Repository)
	}
	return nil
}

func checkOffline(spec *v1alpha1.LMEvalJobSpec) error {
	if spec.Offline == nil || spec.Offline.Storage.S3 == nil {
		return nil
	}
	if p := spec.Offline.Storage.S3.Path; leaves(p) {
		return fmt.Errorf("invalid offline storage: s3.path %q must have no . or .. as an element", p)
	}
	return nil
}

// leaves reports whether a path may lead out of its directory, or is written in a way that hides where it leads.
func leaves(p string) bool {
	return slices.ContainsFunc(strings.Split(p, "/"), func(element string) bool { return element == "." || element == ".." })
}

// gitOf is the repository of the tasks, nil for none.
func gitOf(tasks *v1alpha1.TaskList) *v1alpha1.GitSource {
	if tasks.CustomTasks == nil || len(tasks.TaskNames) == 0 || tasks.CustomTasks.Source.Git == nil || tasks.CustomTasks.Source.Git.URL == "" {
		return nil
	}
	return tasks.CustomTasks.Source.Git
}

func checkGit(spec *v1alpha1.LMEvalJobSpec) error {
	git := gitOf(&spec.TaskList)
	if git == nil {
		return nil
	}
	if err := must("invalid custom tasks: git.url", git.URL, gitPattern); err != nil {
		return err
	}
	if branch := ptr.Deref(git.Branch, ""); branch != "" {
		if err := must("invalid custom tasks: git.branch", branch, branchPattern); err != nil {
			return err
		}
	}
	if commit := ptr.Deref(git.Commit, ""); commit != "" {
		if err := must("invalid custom tasks: git.commit", commit, commitPattern); err != nil {
			return err
		}
	}
	if leaves(git.Path) || path.IsAbs(git.Path) {
		return fmt.Errorf("invalid custom tasks: git.path %q must be relative, without . or .. as an element", git.Path)
	}
	return nil
}
