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

// validate returns the error in the spec, or the empty string.
func validate(spec *v1alpha1.LMEvalJobSpec) string {
	for _, check := range []func(*v1alpha1.LMEvalJobSpec) error{
		checkModel, checkFields, checkOutputs, checkOffline, checkGit,
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

// field is a value of the spec that has a pattern.
type field struct {
	name, value string
	pattern     *regexp.Regexp
}

// match returns an error with the first field whose value does not match, and its pattern.
func match(fields ...field) error {
	for _, f := range fields {
		if !f.pattern.MatchString(f.value) {
			return fmt.Errorf("%s %q must match %s", f.name, f.value, f.pattern)
		}
	}
	return nil
}

func checkModel(spec *v1alpha1.LMEvalJobSpec) error {
	if slices.Contains(models, spec.Model) {
		return nil
	}
	return fmt.Errorf("invalid model: %q must be one of %s", spec.Model, strings.Join(models, ", "))
}

// checkFields checks the arguments, the tasks and the numbers.
func checkFields(spec *v1alpha1.LMEvalJobSpec) error {
	var fields []field
	arguments := func(kind string, list []v1alpha1.Argument) {
		for i, a := range list {
			name := fmt.Sprintf("invalid %s arguments: %s argument[%d] ", kind, kind, i)
			fields = append(fields, field{name + "name", a.Name, namePattern}, field{name + "value", a.Value, valuePattern})
		}
	}
	arguments("model", spec.ModelArgs)
	arguments("generation", spec.GenArgs)
	for i, name := range spec.TaskList.TaskNames {
		fields = append(fields, field{fmt.Sprintf("invalid task names: task name[%d]", i), string(name), taskPattern})
	}
	if spec.Limit != "" {
		fields = append(fields, field{"invalid limit:", spec.Limit, limitPattern})
	}
	if spec.BatchSize != nil {
		fields = append(fields, field{"invalid batch size:", *spec.BatchSize, batchPattern})
	}
	return match(fields...)
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

// leaves reports whether a path may lead out of its directory, or is not in its canonical form.
func leaves(p string) bool {
	return slices.ContainsFunc(strings.Split(p, "/"), func(element string) bool { return element == "." || element == ".." })
}

// gitOf returns the repository of the tasks, or nil.
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
	fields := []field{{"invalid custom tasks: git.url", git.URL, gitPattern}}
	if branch := ptr.Deref(git.Branch, ""); branch != "" {
		fields = append(fields, field{"invalid custom tasks: git.branch", branch, branchPattern})
	}
	if commit := ptr.Deref(git.Commit, ""); commit != "" {
		fields = append(fields, field{"invalid custom tasks: git.commit", commit, commitPattern})
	}
	if err := match(fields...); err != nil {
		return err
	}
	if leaves(git.Path) || path.IsAbs(git.Path) {
		return fmt.Errorf("invalid custom tasks: git.path %q must be relative, without . or .. as an element", git.Path)
	}
	return nil
}
