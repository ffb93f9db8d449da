package lmes

import (
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

const (
	driver      = "/opt/app-root/src/bin/driver"
	outputPath  = "/opt/app-root/src/output"
	tasksPath   = "/opt/app-root/src/my_tasks"
	defaultPort = 18080
)

// online and executes report whether the job requests the access and the settings permit it.
func (s settings) online(spec *v1alpha1.LMEvalJobSpec) bool {
	return s.permitOnline && ptr.Deref(spec.AllowOnline, false)
}

func (s settings) executes(spec *v1alpha1.LMEvalJobSpec) bool {
	return s.permitExecution && ptr.Deref(spec.AllowCodeExecution, false)
}

// command returns the command of the driver, which runs the arguments after --.
func command(spec *v1alpha1.LMEvalJobSpec, s settings) []string {
	out := []string{driver, "--output-path", outputPath}
	flag := func(wanted bool, parts ...string) {
		if wanted {
			out = append(out, parts...)
		}
	}
	flag(spec.Offline != nil && spec.Offline.Storage.S3 != nil, "--download-assets-s3")
	flag(spec.Outputs != nil && spec.Outputs.OCI != nil, "--upload-to-oci")
	flag(s.detectDevice, "--detect-device")
	flag(s.port != defaultPort, "--listen-port", strconv.Itoa(s.port))
	flag(s.online(spec), "--allow-online")
	if git := gitOf(&spec.TaskList); git != nil {
		flag(true, "--custom-task-git-url", git.URL)
		flag(ptr.Deref(git.Branch, "") != "", "--custom-task-git-branch", ptr.Deref(git.Branch, ""))
		flag(ptr.Deref(git.Commit, "") != "", "--custom-task-git-commit", ptr.Deref(git.Commit, ""))
		flag(git.Path != "", "--custom-task-git-path", git.Path)
		for _, name := range spec.TaskList.TaskNames {
			flag(true, "--task-name", string(name))
		}
	}
	return append(append(out, recipeFlags(&spec.TaskList)...), "--")
}

// arguments returns the arguments of the evaluation.
func arguments(spec *v1alpha1.LMEvalJobSpec, s settings) []string {
	out := []string{"python", "-m", "lm_eval", "--output_path", outputPath, "--model", spec.Model}
	flag := func(wanted bool, parts ...string) {
		if wanted {
			out = append(out, parts...)
		}
	}
	flag(len(spec.ModelArgs) > 0, "--model_args", pairs(spec.ModelArgs))
	flag(true, "--tasks", strings.Join(taskNames(&spec.TaskList), ","), "--include_path", tasksPath)
	flag(spec.NumFewShot != nil, "--num_fewshot", strconv.Itoa(ptr.Deref(spec.NumFewShot, 0)))
	flag(spec.Limit != "", "--limit", spec.Limit)
	flag(len(spec.GenArgs) > 0, "--gen_kwargs", pairs(spec.GenArgs))
	flag(ptr.Deref(spec.LogSamples, false), "--log_samples")
	flag(true, "--batch_size", s.batch(spec.BatchSize))
	flag(spec.SystemInstruction != "", "--system_instruction", spec.SystemInstruction)
	if chat := spec.ChatTemplate; chat != nil && chat.Enabled {
		flag(true, "--apply_chat_template")
		flag(chat.Name != "", chat.Name)
	}
	flag(s.executes(spec), "--confirm_run_unsafe_code")
	return out
}

func pairs(list []v1alpha1.Argument) string {
	out := make([]string, len(list))
	for i, a := range list {
		out[i] = a.Name + "=" + a.Value
	}
	return strings.Join(out, ",")
}

// taskNames returns the tasks of the spec, and one for each recipe.
func taskNames(tasks *v1alpha1.TaskList) (out []string) {
	for _, name := range tasks.TaskNames {
		out = append(out, string(name))
	}
	for i := range tasks.TaskRecipes {
		out = append(out, "tr_"+strconv.Itoa(i))
	}
	return out
}

// batch returns the batch size within the limit.
func (s settings) batch(size *string) string {
	if size == nil {
		return s.defaultBatch
	}
	if number, automatic := strings.CutPrefix(*size, "auto"); automatic {
		if number == "" {
			return *size
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(number, ":")); err == nil && n > 0 {
			return *size
		}
		return "auto:" + strconv.Itoa(s.maxBatch)
	}
	n, err := strconv.Atoi(*size)
	if err != nil || n < 1 {
		return "1"
	}
	return strconv.Itoa(min(n, s.maxBatch))
}
